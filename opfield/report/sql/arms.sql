-- Arms: the declared cells of each arm, and what became of them.
-- Grain: one row for the baseline and each of the first 300 candidates; columns as in the relation `arm_cells`.
select
    listed_candidates.position,
    listed_candidates.label,
    arm_cells.declared,
    arm_cells.accepted,
    arm_cells.success,
    arm_cells.domain_failure,
    arm_cells.infrastructure_failure,
    arm_cells.cancelled,
    arm_cells.failed,
    arm_cells.missing,
    count(*) over () as in_all,
from listed_candidates
inner join arm_cells using (candidate_id, arm)
qualify listed_candidates.is_listed
order by listed_candidates.position
