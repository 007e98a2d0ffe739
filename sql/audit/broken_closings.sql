-- Broken closings: events that close a plan against the law `plan`. Must be empty; part of `violations`.
-- Grain: one row for each plan.closed that breaks it.
-- A sequential gate may close the plan once, at a number of cases that it looks at and that is not all of them, when
-- every coordinate of that many cases has its cell and none further has, before anything is judged.
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
        try_cast(json_extract_string(payload, '$.cases') as bigint) as cases,
        try_cast(json_extract_string(payload, '$.identity.repeats') as bigint) as repeats,
        len(list_distinct(json_extract_string(payload, '$.identity.candidates[*]'))) as candidates,
        json_type(payload, '$.identity.candidates') = 'ARRAY' as is_fixed,
    from told
    where type = 'campaign.started' and sequence = 1
),

closings as (
    select
        campaign_id,
        sequence,
        if(
            json_type(payload, '$.cases') in ('BIGINT', 'UBIGINT'),
            try_cast(json_extract_string(payload, '$.cases') as bigint),
            null
        ) as cases,
    from told
    where type = 'plan.closed'
),

counted as (
    select
        closings.campaign_id,
        closings.sequence,
        count(*) filter (where earlier.type = 'trial.completed') as cells,
        count(distinct json_extract_string(earlier.payload, '$.case_id'))
            filter (where earlier.type = 'trial.completed') as tried_cases,
        count(*) filter (where earlier.type = 'candidate.registered') as registered,
        count(*) filter (where earlier.type in ('plan.closed', 'evidence.recorded', 'comparison.recorded')) as judged,
    from closings
    left join told as earlier
        on closings.campaign_id = earlier.campaign_id and closings.sequence > earlier.sequence
    group by closings.campaign_id, closings.sequence
),

looked as (
    select
        closings.campaign_id,
        closings.sequence,
        bool_or(
            coalesce(json_type(policy_gates.options, '$.looks'), 'NULL') = 'NULL'
            or list_contains(
                list_transform(
                    json_extract(policy_gates.options, '$.looks[*]'),
                    lambda each: if(json_type(each) in ('BIGINT', 'UBIGINT'), try_cast(each as bigint), null)
                ),
                closings.cases
            )
        ) as is_look,
    from closings
    inner join policy_gates using (campaign_id)
    where policy_gates.kind = 'sequential'
    group by closings.campaign_id, closings.sequence
),

judged as (
    select
        closings.campaign_id,
        closings.sequence,
        'plan' as law,
        case
            when not coalesce(closings.cases >= 1 and closings.cases < declared.cases, false)
                then format(
                    'closed at {} of {} cases',
                    coalesce(closings.cases::varchar, 'unknown'), coalesce(declared.cases::varchar, 'unknown')
                )
            when not coalesce(looked.is_look, false)
                then format('no sequential gate looks at {} cases', closings.cases)
            when counted.judged > 0 then 'the plan is closed, or judged, already'
            when coalesce(
                counted.tried_cases <> closings.cases
                or counted.cells <> closings.cases * declared.repeats
                * (1 + if(declared.is_fixed, declared.candidates, counted.registered)),
                true
            )
                then format(
                    '{} cases do not make {} cells of {}', closings.cases, counted.cells, counted.tried_cases
                )
        end as detail,
    from closings
    inner join counted using (campaign_id, sequence)
    left join declared using (campaign_id)
    left join looked using (campaign_id, sequence)
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
