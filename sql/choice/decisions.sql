-- Decisions: the policy's verdict on each candidate.
-- Grain: one row for each declared candidate.
-- The first gate that does not pass decides, and later ones cannot compensate. While coordinates are pending, and while
-- the projections are not whole, the verdict is indeterminate whatever the gates say so far. Those of a cancelled
-- campaign stay pending, so that it never has another verdict.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   label: Short name for people.
--   decision: pass, fail or indeterminate.
--   gate: Name of the first gate that does not pass; NULL where all pass.
--   message: What that gate says, or what is still missing.
--   score: Mean oriented delta of the policy's preference metric; NULL where unknown or without a preference.
--   is_final: Whether nothing is pending, all is whole and the candidate is registered, so that the decision stands.
with cancelled as (
    select distinct campaign_id
    from events
    where type = 'campaign.cancelled'
),

deciding as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        name,
        status,
        message,
    from gate_results
    where status <> 'pass' and is_reached
),

scores as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        comparisons.mean_delta,
    from comparisons
    inner join declarations
        on comparisons.campaign_id = declarations.campaign_id and comparisons.metric = declarations.preference
),

standing as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        declared_candidates.label,
        deciding.status,
        deciding.name as gate,
        deciding.message,
        scores.mean_delta as score,
        declared_candidates.is_registered,
        coverage.is_whole,
        coverage.missing_baseline + coverage.missing_candidate as pending,
        -- Without coupling a pair may lack several coordinates, on one arm or on both, and is open once.
        if(
            declarations.coupling = 'none',
            coverage.expected_pairs - coverage.complete_pairs,
            coverage.missing_baseline + coverage.missing_candidate
        ) as open,
        case
            when cancelled.campaign_id is null
                then if(declarations.coupling = 'none', 'pairs with pending coordinates', 'pending coordinates')
            when declarations.coupling = 'none' then 'cancelled; pairs with coordinates that were never run'
            else 'cancelled; coordinates that were never run'
        end as open_name,
    from declared_candidates
    inner join declarations using (campaign_id)
    inner join coverage using (campaign_id, candidate_id)
    left join cancelled using (campaign_id)
    left join deciding using (campaign_id, candidate_id)
    left join scores using (campaign_id, candidate_id)
    where declared_candidates.arm = 'candidate'
),

decided as (
    select
        campaign_id,
        candidate_id,
        label,
        if(pending > 0 or not is_whole, 'indeterminate', coalesce(status, 'pass')) as decision,
        gate,
        case
            when not is_whole then not_whole_message()
            when pending > 0 then format('{}: {}', open_name, open)
            else coalesce(message, 'every gate passes')
        end as message,
        score,
        pending = 0 and is_whole and is_registered as is_final,
    from standing
)

select * from decided
