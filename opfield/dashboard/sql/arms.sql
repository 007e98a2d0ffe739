-- Arms: the declared cells of the baseline and of each candidate, and what became of them.
-- Grain: one row for each, in the pages' order; columns as in the relation `arm_cells`.
select
    listed_candidates.position,
    listed_candidates.candidate_id,
    listed_candidates.label,
    listed_candidates.arm,
    arm_cells.declared,
    arm_cells.accepted,
    arm_cells.success,
    arm_cells.domain_failure,
    arm_cells.infrastructure_failure,
    arm_cells.cancelled,
    arm_cells.failed,
    arm_cells.missing,
    arm_cells.extra,
from listed_candidates
inner join arm_cells using (candidate_id, arm)
order by listed_candidates.position
