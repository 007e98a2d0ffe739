-- Judged scopes: which cases each gate of a policy judges over.
-- Grain: one row for each gate and scope.
-- A gate without the option `within` has one scope, all cases. `within: {"role": "admin"}` gives one, the cases of
-- which every key named has the value named. `within: "role"` gives one for each value of the key; where cases lack the
-- key one more, `{"role":null}`, which holds no case, so that the gate cannot pass without them.
-- columns:
--   campaign_id: Campaign that declared the policy.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Canonical JSON of the keys and values that its cases have; empty for all cases.
with asked as (
    select
        campaign_id,
        gate_ix,
        coalesce(json_type(options, '$.within'), 'NULL') as form,
        json_extract(options, '$.within') as within,
        json_extract_string(options, '$.within') as key,
    from policy_gates
),

groups_by_key as (
    select distinct
        asked.campaign_id,
        asked.gate_ix,
        json_object(asked.key, cases.groups[asked.key])::varchar as scope,
    from asked
    inner join cases using (campaign_id)
    where asked.form = 'VARCHAR'
),

listed as (
    select campaign_id, gate_ix, '' as scope from asked where form = 'NULL'
    union all
    select campaign_id, gate_ix, within::varchar as scope from asked where form not in ('NULL', 'VARCHAR')
    union all
    select campaign_id, gate_ix, scope from groups_by_key
)

select * from listed
