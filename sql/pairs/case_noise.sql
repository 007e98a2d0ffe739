-- Case noise: how much the mean delta of a case varies with its repeats. Only campaigns that infer to these very cases
-- (`infers_to: these_cases`) rest on it; others have no row.
-- Grain: one row for each candidate, metric and case with at least two pairs.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   variance: Variance of the case's mean delta: that of its single deltas over their number; 0 where all are equal.
--   df: Pairs less one.
with asked as (
    select campaign_id
    from declarations
    where infers_to = 'these_cases'
),

spreads as (
    select
        pairs.campaign_id,
        pairs.candidate_id,
        pairs.metric,
        pairs.case_id,
        any_value(case_deltas.pairs) as pairs,
        any_value(case_deltas.min_delta = case_deltas.max_delta) as is_constant,
        fsum((pairs.delta - case_deltas.mean_delta) ** 2) as squared_deviations,
    from pairs
    semi join asked using (campaign_id)
    inner join case_deltas using (campaign_id, candidate_id, metric, case_id)
    group by pairs.campaign_id, pairs.candidate_id, pairs.metric, pairs.case_id
),

noises as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        if(is_constant, 0, squared_deviations / (pairs - 1) / pairs) as variance,
        pairs - 1 as df,
    from spreads
    where pairs > 1
)

select * from noises
