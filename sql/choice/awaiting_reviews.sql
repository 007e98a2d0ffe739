-- Awaiting reviews: candidates that only a person can decide now.
-- Grain: one row for each candidate that reaches a review gate at which approvals are lacking and nobody rejects.
-- Empty while coordinates are pending, while the projections are not whole, and where earlier gates decide. A candidate
-- with a row here keeps a running campaign waiting; in a finished one it was decided without its reviews.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   label: Short name for people.
--   gate: Name of the review gate.
--   approvals: Reviewers whose standing review approves.
--   needed: Approvals that the gate asks for.
with reached as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        name,
    from gate_results
    where kind = 'review' and is_reached and status = 'indeterminate'
),

final as (
    select campaign_id
    from decisions
    group by campaign_id
    having bool_and(is_final)
),

waiting as (
    select
        reached.campaign_id,
        reached.candidate_id,
        declared_candidates.label,
        reached.name as gate,
        review_standings.approvals,
        review_standings.needed,
    from reached
    inner join review_standings using (campaign_id, candidate_id, gate_ix)
    inner join declared_candidates using (campaign_id, candidate_id)
    inner join final using (campaign_id)
    where review_standings.is_awaited
)

select * from waiting
