-- Arms: the declared cells of each arm, and what became of them.
-- Grain: one row for the baseline and each of the first 300 candidates; columns as in the denominator.
with declared as (
    select
        candidate_id,
        sum(repeats)::bigint as declared,
    from declared_repeats
    group by candidate_id
),

accepted as (
    select
        candidate_id,
        count(*) as accepted,
        count(*) filter (where status = 'success') as success,
        count(*) filter (where status = 'domain_failure') as domain_failure,
        count(*) filter (where status = 'infrastructure_failure') as infrastructure_failure,
        count(*) filter (where status = 'cancelled') as cancelled,
    from cells
    group by candidate_id
),

missing as (
    select
        candidate_id,
        count(*) as missing,
    from pending
    group by candidate_id
)

select
    listed_candidates.position,
    listed_candidates.label,
    coalesce(declared.declared, 0) as declared,
    coalesce(accepted.accepted, 0) as accepted,
    coalesce(accepted.success, 0) as success,
    coalesce(accepted.domain_failure, 0) as domain_failure,
    coalesce(accepted.infrastructure_failure, 0) as infrastructure_failure,
    coalesce(accepted.cancelled, 0) as cancelled,
    coalesce(missing.missing, 0) as missing,
    count(*) over () as in_all,
from listed_candidates
left join declared using (candidate_id)
left join accepted using (candidate_id)
left join missing using (candidate_id)
qualify listed_candidates.is_listed
order by listed_candidates.position
