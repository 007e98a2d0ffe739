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

-- Told outright, so that no pair is read where none can be partial.
independent_pairs as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
    from pairs
    semi join (select campaign_id from declarations where coupling = 'none') using (campaign_id)
),

touched as (
    select
        independent_pairs.campaign_id,
        independent_pairs.candidate_id,
        independent_pairs.metric,
        independent_pairs.case_id,
    from independent_pairs
    semi join lacking using (campaign_id, candidate_id, metric, case_id)

    union

    select
        independent_pairs.campaign_id,
        independent_pairs.candidate_id,
        independent_pairs.metric,
        independent_pairs.case_id,
    from independent_pairs
    semi join (from lacking where arm = 'baseline') as lacking_baseline using (campaign_id, metric, case_id)
)

select * from touched
