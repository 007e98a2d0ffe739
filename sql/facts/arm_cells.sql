-- Arm cells: the declared cells of the baseline and of each candidate, and what became of them.
-- Grain: one row for each candidate of a campaign, the baseline included, and arm that it is declared on or has cells on.
-- A declared cell has succeeded, failed in one of three ways, or is missing. It has failed where it was accepted without
-- success: a domain failure is evidence against its arm; an infrastructure failure and a cancelled cell are no evidence
-- about quality. A candidate that is not declared has 0 declared cells, and all its cells are extra: look for a second
-- writer.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   declared: Declared cells.
--   accepted: Accepted cells, of whatever status.
--   success: Accepted cells that succeeded.
--   domain_failure: Accepted cells in which the system under test failed.
--   infrastructure_failure: Accepted cells in which something around the system failed.
--   cancelled: Accepted cells that were cancelled.
--   failed: Accepted cells without success, of all three classes.
--   missing: Declared cells without an accepted one.
--   extra: Accepted cells beyond the declared ones: off the grid, or at a coordinate already taken.
with declared as (
    select
        campaign_id,
        candidate_id,
        arm,
        sum(repeats)::bigint as declared,
    from declared_repeats
    group by campaign_id, candidate_id, arm
),

accepted as (
    select
        campaign_id,
        candidate_id,
        arm,
        count(*) as accepted,
        count(*) filter (where status = 'success') as success,
        count(*) filter (where status = 'domain_failure') as domain_failure,
        count(*) filter (where status = 'infrastructure_failure') as infrastructure_failure,
        count(*) filter (where status = 'cancelled') as cancelled,
    from cells
    group by campaign_id, candidate_id, arm
),

waiting as (
    select
        campaign_id,
        candidate_id,
        arm,
        count(*) as missing,
    from pending
    group by campaign_id, candidate_id, arm
),

counted_cells as (
    select
        coalesce(declared.campaign_id, accepted.campaign_id) as campaign_id,
        coalesce(declared.candidate_id, accepted.candidate_id) as candidate_id,
        coalesce(declared.arm, accepted.arm) as arm,
        coalesce(declared.declared, 0)::bigint as declared,
        coalesce(accepted.accepted, 0)::bigint as accepted,
        coalesce(accepted.success, 0)::bigint as success,
        coalesce(accepted.domain_failure, 0)::bigint as domain_failure,
        coalesce(accepted.infrastructure_failure, 0)::bigint as infrastructure_failure,
        coalesce(accepted.cancelled, 0)::bigint as cancelled,
    from declared
    full join accepted using (campaign_id, candidate_id, arm)
),

joined as (
    select
        counted_cells.*,
        counted_cells.accepted - counted_cells.success as failed,
        coalesce(waiting.missing, 0)::bigint as missing,
        counted_cells.accepted + coalesce(waiting.missing, 0)::bigint - counted_cells.declared as extra,
    from counted_cells
    left join waiting using (campaign_id, candidate_id, arm)
)

select * from joined
