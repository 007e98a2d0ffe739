-- Spec changes: where the specification of a candidate differs from that of the baseline.
-- Grain: one row for each registered candidate and field that has another value than in the baseline's specification.
-- A field is what stands innermost: a number, a text, an element of a list, a list or object that is empty. A candidate
-- without a row has the baseline's own specification, or is not registered yet.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   field: Path of the field, its members joined by dots, places in a list in brackets and counted from 0;
--     a member that is no plain word is in quotation marks.
--   baseline_value: Value in the baseline's specification as JSON; NULL where it has no such field.
--   candidate_value: Value in the candidate's specification as JSON; NULL where it has no such field.
with specs as (
    select distinct
        campaign_id,
        candidate_id,
        is_baseline,
        spec,
    from candidates
),

fields as (
    select
        specs.campaign_id,
        specs.candidate_id,
        specs.is_baseline,
        regexp_replace(node.fullkey, '^\$\.?', '') as field,
        node.value::varchar as value,
    from specs, json_tree(specs.spec) as node
    where node.type not in ('OBJECT', 'ARRAY') or node.value::varchar in ('{}', '[]')
),

grid as (
    select
        own.campaign_id,
        own.candidate_id,
        own.field,
        base.value as baseline_value,
        own.value as candidate_value,
    from fields as own
    left join fields as base
        on base.campaign_id = own.campaign_id and base.field = own.field and base.is_baseline
    where not own.is_baseline

    union all

    select
        specs.campaign_id,
        specs.candidate_id,
        base.field,
        base.value as baseline_value,
        null as candidate_value,
    from specs
    inner join fields as base on base.campaign_id = specs.campaign_id and base.is_baseline
    anti join fields as own
        on own.campaign_id = specs.campaign_id and own.candidate_id = specs.candidate_id and own.field = base.field
    where not specs.is_baseline
),

changed as (
    select *
    from grid
    where baseline_value is distinct from candidate_value
)

select * from changed
