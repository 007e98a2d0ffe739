-- Arms: the declared cells of the baseline and of each candidate, and what became of them.
-- Grain: one row for each, in the pages' order.
-- A declared cell has succeeded, failed in one of three ways, or is missing; `extra` counts accepted cells beyond these.
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

waiting as (
    select
        candidate_id,
        count(*) as missing,
    from pending
    group by candidate_id
),

joined as (
    select
        listed_candidates.position,
        listed_candidates.candidate_id,
        listed_candidates.label,
        listed_candidates.arm,
        coalesce(declared.declared, 0)::bigint as declared,
        coalesce(accepted.accepted, 0)::bigint as accepted,
        coalesce(accepted.success, 0)::bigint as success,
        coalesce(accepted.domain_failure, 0)::bigint as domain_failure,
        coalesce(accepted.infrastructure_failure, 0)::bigint as infrastructure_failure,
        coalesce(accepted.cancelled, 0)::bigint as cancelled,
        coalesce(waiting.missing, 0)::bigint as missing,
    from listed_candidates
    left join declared using (candidate_id)
    left join accepted using (candidate_id)
    left join waiting using (candidate_id)
)

select
    *,
    accepted - (declared - missing) as extra,
from joined
order by position
