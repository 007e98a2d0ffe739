-- Denominator: the cells that were declared, and what became of them.
-- Grain: one row for either arm, and one for both together.
-- A declared cell has succeeded, failed in one of three ways, or is missing; `extra` counts accepted cells beyond these,
-- at a coordinate already taken or off the declared grid.
with declared as (
    select
        arm,
        sum(repeats)::bigint as declared,
    from declared_repeats
    group by arm
),

accepted as (
    select
        arm,
        count(*) as accepted,
        count(*) filter (where status = 'success') as success,
        count(*) filter (where status = 'domain_failure') as domain_failure,
        count(*) filter (where status = 'infrastructure_failure') as infrastructure_failure,
        count(*) filter (where status = 'cancelled') as cancelled,
    from cells
    group by arm
),

missing as (
    select
        arm,
        count(*) as missing,
    from pending
    group by arm
),

joined as (
    select
        declared.arm,
        declared.declared,
        coalesce(accepted.accepted, 0) as accepted,
        coalesce(accepted.success, 0) as success,
        coalesce(accepted.domain_failure, 0) as domain_failure,
        coalesce(accepted.infrastructure_failure, 0) as infrastructure_failure,
        coalesce(accepted.cancelled, 0) as cancelled,
        coalesce(missing.missing, 0) as missing,
    from declared
    left join accepted using (arm)
    left join missing using (arm)
),

summed as (
    select
        coalesce(arm, 'both') as arm,
        coalesce(sum(declared), 0)::bigint as declared,
        coalesce(sum(accepted), 0)::bigint as accepted,
        coalesce(sum(success), 0)::bigint as success,
        coalesce(sum(domain_failure), 0)::bigint as domain_failure,
        coalesce(sum(infrastructure_failure), 0)::bigint as infrastructure_failure,
        coalesce(sum(cancelled), 0)::bigint as cancelled,
        coalesce(sum(missing), 0)::bigint as missing,
    from joined
    group by grouping sets ((arm), ())
)

select
    arm,
    declared,
    accepted,
    success,
    domain_failure,
    infrastructure_failure,
    cancelled,
    missing,
    accepted + missing - declared as extra,
from summed
order by arm = 'both' desc, arm
