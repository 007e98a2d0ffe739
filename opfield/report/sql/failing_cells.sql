-- Failing cells: the cells behind the counts of failures, and those that are not there.
-- Grain: one row for each accepted cell without success, and each declared one that is missing: of each candidate and
-- status the first 8 in declared order, 240 in all.
with numbered_cases as (
    select
        case_id,
        min(case_ix) as case_ix,
    from cases
    group by case_id
),

broken as (
    select
        candidate_id,
        case_id,
        repeat,
        status,
        failure_code,
        failure_message,
        artifact_id,
        attempts,
    from cells
    where status <> 'success'

    union all

    select
        candidate_id,
        case_id,
        repeat,
        'missing' as status,
        null as failure_code,
        null as failure_message,
        null as artifact_id,
        null as attempts,
    from pending
    -- Told outright, so that no grid is built where nothing is missing.
    semi join (select candidate_id, arm from arm_cells where missing > 0) using (candidate_id, arm)
),

ranked as (
    select
        listed_candidates.position,
        listed_candidates.label,
        broken.*,
        numbered_cases.case_ix,
        row_number() over (
            partition by broken.candidate_id, broken.status
            order by numbered_cases.case_ix, broken.case_id, broken.repeat
        ) as rank,
        count(*) over (partition by broken.candidate_id, broken.status) as alike,
        count(*) over () as in_all,
    from broken
    inner join listed_candidates using (candidate_id)
    left join numbered_cases using (case_id)
)

select
    position,
    label,
    status,
    alike,
    shown(case_id, 160) as case_id,
    repeat,
    shown(failure_code, 120) as failure_code,
    shown(failure_message, 600) as failure_message,
    attempts,
    artifact_id,
    in_all,
from ranked
where rank <= 8
order by position, list_position(['domain_failure', 'infrastructure_failure', 'cancelled', 'missing'], status), rank
limit 240
