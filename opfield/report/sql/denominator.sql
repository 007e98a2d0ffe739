-- Denominator: the cells that were declared, and what became of them.
-- Grain: one row for either arm, and one for both together; columns as in the relation `arm_cells`.
select
    coalesce(arm, 'both') as arm,
    coalesce(sum(declared), 0)::bigint as declared,
    coalesce(sum(accepted), 0)::bigint as accepted,
    coalesce(sum(success), 0)::bigint as success,
    coalesce(sum(domain_failure), 0)::bigint as domain_failure,
    coalesce(sum(infrastructure_failure), 0)::bigint as infrastructure_failure,
    coalesce(sum(cancelled), 0)::bigint as cancelled,
    coalesce(sum(failed), 0)::bigint as failed,
    coalesce(sum(missing), 0)::bigint as missing,
    coalesce(sum(extra), 0)::bigint as extra,
from arm_cells
group by grouping sets ((arm), ())
order by arm is null desc, arm
