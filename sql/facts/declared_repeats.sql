-- Declared repeats: how often each case is to run on each arm.
-- Grain: one row for each declared candidate, the baseline included, and planned case.
-- Where repeats pair (coupling common_seed or replayed) they are as many on every arm: what the case states for the
-- baseline holds for all.
-- columns:
--   campaign_id: Campaign that declared it.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case.
--   repeats: Repeats declared there, at least 1.
with coupled as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        declared_candidates.arm,
        planned_cases.case_id,
        repeats_stated(stated_repeats.repeats, declarations.baseline_id, declarations.repeats) as repeats,
    from planned_cases
    inner join declarations using (campaign_id)
    inner join declared_candidates using (campaign_id)
    left join stated_repeats using (campaign_id, case_id)
    where declarations.coupling is distinct from 'none'
),

declared as (
    select * from coupled
    union all
    select campaign_id, candidate_id, arm, case_id, repeats from independent_repeats
)

select * from declared
