-- Independent cells: how much of what an arm declares at a case is there, where the rounds of the arms are independent.
-- Grain: one row for each declared candidate, the baseline included, and planned case of a campaign with coupling none.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case.
--   cells: Accepted cells at declared repeats.
--   covered: Declared repeats with an accepted cell.
--   is_covered: Whether every declared repeat has one.
with found as (
    select
        cells.campaign_id,
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        count(*) as cells,
        count(distinct cells.repeat) as covered,
    from cells
    inner join independent_repeats using (campaign_id, candidate_id, arm, case_id)
    where cells.repeat < independent_repeats.repeats
    group by cells.campaign_id, cells.candidate_id, cells.arm, cells.case_id
),

counted as (
    select
        independent_repeats.campaign_id,
        independent_repeats.candidate_id,
        independent_repeats.arm,
        independent_repeats.case_id,
        coalesce(found.cells, 0) as cells,
        coalesce(found.covered, 0) as covered,
        coalesce(found.covered, 0) = independent_repeats.repeats as is_covered,
    from independent_repeats
    left join found using (campaign_id, candidate_id, arm, case_id)
)

select * from counted
