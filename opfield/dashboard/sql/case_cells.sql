-- Case cells: what happened at the case that is asked for, on every arm and at every repeat.
-- Grain: one row for each accepted cell and for each declared one that is missing; the first 200.
-- Of measured values those of the first 40 metrics are told; a value that is missing has its reason.
with measured as (
    select
        candidate_id,
        repeat,
        array_to_string(
            list(
                format('{} = {}', shown(metric, 60), coalesce(format('{:.6g}', value), 'missing: ' || missing_reason))
                order by metric
            )[:40],
            ', '
        ) as measurements,
    from measurements
    where case_id = getvariable('asked_case')
    group by candidate_id, repeat
),

found as (
    select
        candidate_id,
        repeat,
        status,
        failure_code,
        failure_message,
        duration_s,
        cost_usd,
        input_tokens,
        output_tokens,
        attempts,
        artifact_id,
        sequence,
    from cells
    where case_id = getvariable('asked_case')

    union all by name

    select
        candidate_id,
        repeat,
        'missing' as status,
    from pending
    where case_id = getvariable('asked_case')
)

select
    coalesce(listed_candidates.position, 1000000) as position,
    coalesce(listed_candidates.label, shown(found.candidate_id, 40)) as label,
    found.candidate_id,
    found.repeat,
    found.status,
    shown(found.failure_code, 120) as failure_code,
    shown(found.failure_message, 2000) as failure_message,
    shown(measured.measurements, 1000) as measurements,
    found.duration_s,
    found.cost_usd,
    found.input_tokens,
    found.output_tokens,
    found.attempts,
    found.artifact_id,
    found.sequence,
    count(*) over () as in_all,
from found
left join listed_candidates using (candidate_id)
left join measured using (candidate_id, repeat)
order by position, found.candidate_id, found.repeat, found.sequence
limit 200
