-- Broken evidence: events of computed evidence that break the law `evidence`. Must be empty; part of `violations`.
-- Grain: one row for each evidence.recorded that breaks it.
-- Evidence belongs to one gate of the policy, by position and name, is recorded once for each, and holds a list of
-- results. It comes when every declared coordinate has its cell and before the first comparison, so that a verdict
-- never rests on figures that were worked out over other cells.
-- columns:
--   campaign_id: Campaign of the history.
--   sequence: Sequence of the offending event.
--   law: Name of the law.
--   detail: What stands there and what should.
with told as (
    select distinct
        campaign_id,
        sequence,
        type,
        if(json_valid(payload), payload, '{}') as payload,
    from events
    where type in (
        'campaign.started', 'candidate.registered', 'trial.completed', 'plan.closed', 'evidence.recorded',
        'comparison.recorded'
    )
),

declared as (
    select
        campaign_id,
        try_cast(json_extract_string(payload, '$.coordinates') as bigint) as coordinates,
        try_cast(json_extract_string(payload, '$.cases') as bigint) as cases,
        try_cast(json_extract_string(payload, '$.identity.repeats') as bigint) as repeats,
        len(list_distinct(json_extract_string(payload, '$.identity.candidates[*]'))) as candidates,
        json_type(payload, '$.identity.candidates') = 'ARRAY' as is_fixed,
    from told
    where type = 'campaign.started' and sequence = 1
),

evidenced as (
    select
        campaign_id,
        sequence,
        json_extract_string(payload, '$.name') as name,
        if(
            json_type(payload, '$.gate_ix') in ('BIGINT', 'UBIGINT'),
            try_cast(json_extract_string(payload, '$.gate_ix') as integer),
            null
        ) as gate_ix,
        coalesce(json_type(payload, '$.results') = 'ARRAY', false) as has_results,
    from told
    where type = 'evidence.recorded'
),

counted as (
    select
        evidenced.campaign_id,
        evidenced.sequence,
        count(*) filter (where earlier.type = 'trial.completed') as cells,
        count(*) filter (where earlier.type = 'candidate.registered') as registered,
        count(*) filter (where earlier.type = 'comparison.recorded') as compared,
        min(try_cast(json_extract_string(earlier.payload, '$.cases') as bigint))
            filter (where earlier.type = 'plan.closed') as planned_cases,
    from evidenced
    left join told as earlier
        on evidenced.campaign_id = earlier.campaign_id and evidenced.sequence > earlier.sequence
    group by evidenced.campaign_id, evidenced.sequence
),

placed as (
    select
        evidenced.campaign_id,
        evidenced.sequence,
        evidenced.name,
        evidenced.gate_ix,
        evidenced.has_results,
        policy_gates.name as gate_name,
        counted.compared,
        coalesce(
            declared.coordinates,
            coalesce(counted.planned_cases, declared.cases) * declared.repeats
            * (1 + if(declared.is_fixed, declared.candidates, counted.registered))
        ) - counted.cells as pending,
        row_number() over (
            partition by evidenced.campaign_id, evidenced.gate_ix
            order by evidenced.sequence
        ) > 1 as is_repeated,
    from evidenced
    inner join counted using (campaign_id, sequence)
    left join declared using (campaign_id)
    left join policy_gates using (campaign_id, gate_ix)
),

judged as (
    select
        campaign_id,
        sequence,
        'evidence' as law,
        case
            when coalesce(name <> gate_name, true)
                then format(
                    'gate {} {} is none of the policy''s',
                    coalesce(gate_ix::varchar, 'nothing'), coalesce(name, 'nothing')
                )
            when not has_results then 'holds no list of results'
            when is_repeated then format('evidence for gate {} is recorded already', gate_ix)
            when compared > 0 then 'a comparison is recorded already'
            when coalesce(pending > 0, true)
                then format('coordinates pending: {}', coalesce(pending::varchar, 'unknown'))
        end as detail,
    from placed
),

offences as (
    select
        campaign_id,
        sequence,
        law,
        detail,
    from judged
    where detail is not null
)

select * from offences
