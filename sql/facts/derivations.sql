-- Derivations: what the plan of a trial made on the way, each step with the identity of what it derives from.
-- Grain: one row for each cell whose retained evidence tells derivations, and step of its plan.
-- Evidence tells them as a JSON object with `plan` (identity of the plan), `registry` (identity of the registry that gave
-- it its meaning) and `derivations`, a list of objects with `operation` and `key` in the order of the steps. Equal keys
-- stand for equal material: what one cell made, another need not make again.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate; the baseline's for cells of the baseline arm.
--   arm: baseline or candidate.
--   case_id: Case.
--   repeat: Repeat, counted from 0.
--   step: Position of the step in its plan, counted from 0.
--   operation: Identity of the operation.
--   key: Derivation key of what it made.
--   plan_id: Identity of the plan.
--   registry_id: Identity of the registry; NULL where the evidence does not tell it.
with evidence as (
    select
        campaign_id,
        artifact_id,
        try(decode(content)) as content,
    from artifacts
    where media_type = 'application/json' and content is not null
),

told as (
    select
        campaign_id,
        artifact_id,
        content ->> '$.plan' as plan_id,
        content ->> '$.registry' as registry_id,
        json_extract(content, '$.derivations[*]') as steps,
    from evidence
    where json_valid(content) and json_type(content, '$.derivations') = 'ARRAY'
),

numbered as (
    select
        campaign_id,
        artifact_id,
        plan_id,
        registry_id,
        unnest(steps) as told_step,
        generate_subscripts(steps, 1) - 1 as step,
    from told
),

placed as (
    select
        cells.campaign_id,
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        cells.repeat,
        numbered.step::integer as step,
        numbered.told_step ->> '$.operation' as operation,
        numbered.told_step ->> '$.key' as key,
        numbered.plan_id,
        numbered.registry_id,
    from cells
    inner join numbered using (campaign_id, artifact_id)
)

select * from placed
where operation is not null and key is not null
