-- Partial pairs: pairs that have a value although an arm lacks some of its rounds there.
-- Grain: one row for each such pair.
-- Only where the rounds of the arms are independent (coupling none) can a pair be partial.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
with lacking as (
    select
        campaign_id,
        candidate_id,
        arm,
        metric,
        case_id,
    from paired_values
    where found < declared
),

touched as (
    select
        pairs.campaign_id,
        pairs.candidate_id,
        pairs.metric,
        pairs.case_id,
    from pairs
    semi join lacking using (campaign_id, candidate_id, metric, case_id)

    union

    select
        pairs.campaign_id,
        pairs.candidate_id,
        pairs.metric,
        pairs.case_id,
    from pairs
    semi join (from lacking where arm = 'baseline') as lacking_baseline using (campaign_id, metric, case_id)
)

select * from touched
