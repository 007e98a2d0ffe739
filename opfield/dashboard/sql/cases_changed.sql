-- Cases changed: what the metric in focus did at each case, from the baseline to the candidate that is asked for.
-- Grain: one row for each planned case. Where no pair has a value the change is NULL, which is unknown, not none.
with compared as (
    select
        case_id,
        pairs,
        baseline_mean,
        candidate_mean,
        mean_delta,
    from case_deltas
    inner join focus using (metric)
    where candidate_id = getvariable('asked_candidate')
),

failed as (
    select
        case_id,
        count(*) filter (where status <> 'success') as failed,
        count(*) as accepted,
        min(shown(failure_code, 80)) as failure_code,
    from cells
    where candidate_id = getvariable('asked_candidate')
    group by case_id
)

select
    planned_cases.case_id,
    shown(planned_cases.case_id, 80) as case_shown,
    compared.pairs,
    compared.baseline_mean,
    compared.candidate_mean,
    compared.mean_delta,
    coalesce(failed.failed, 0)::bigint as failed,
    coalesce(failed.accepted, 0)::bigint as accepted,
    failed.failure_code,
from planned_cases
left join compared using (case_id)
left join failed using (case_id)
