-- Independent repeats: how often each case is to run on each arm where the arms share nothing (coupling none), so that
-- each declares its own number. Campaigns whose repeats pair have no row.
-- Grain: one row for each declared candidate, the baseline included, and planned case.
-- columns:
--   campaign_id: Campaign that declared it.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case.
--   repeats: Repeats declared there, at least 1.
with independent as (
    select
        campaign_id,
        repeats,
    from declarations
    where coupling = 'none'
),

declared as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        declared_candidates.arm,
        planned_cases.case_id,
        repeats_stated(stated_repeats.repeats, declared_candidates.candidate_id, independent.repeats) as repeats,
    from independent
    inner join declared_candidates using (campaign_id)
    inner join planned_cases using (campaign_id)
    left join stated_repeats using (campaign_id, case_id)
)

select * from declared
