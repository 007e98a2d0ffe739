-- Bounds: between what limits a comparison would lie, whatever the missing values are.
-- Grain: one row for each declared candidate, judged metric and scope that a gate judges that metric over; all cases
-- are a scope of every judged metric. Metrics that no gate and no preference names have no row.
-- A bound is NULL where a missing value would need an end of the metric's range that is not declared, where the scope
-- has no case, and where the projections are not whole. Without gaps the bounds equal the estimate.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   scope: Cases, as in `judged_scopes`; empty for all of them.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline.
--   cases: Declared cases of the scope; NULL where not whole.
--   missing: Declared pairs with a value missing on either arm, as in `case_bounds`; NULL where not whole.
--   mean_delta: Mean over cases of the oriented deltas found.
--   min_delta: Least oriented delta of a pair found.
--   mean_delta_low: Mean oriented delta if every missing value were the one worst for the candidate.
--   mean_delta_high: Mean oriented delta if every missing value were the one best for the candidate.
--   min_delta_low: Least oriented delta of any declared pair in the worst case.
--   min_delta_high: What the least oriented delta cannot exceed, even in the best case; NULL where no pair limits it.
--   candidate_mean_low: Mean of the candidate over all its declared coordinates if every missing value were the
--     numerically lowest, in the metric's own unit.
--   candidate_mean_high: The same if every missing value were the numerically highest.
with asked as (
    select distinct
        judged_scopes.campaign_id,
        policy_gates.metric,
        judged_scopes.scope,
    from judged_scopes
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.metric is not null

    union

    select campaign_id, metric, '' as scope
    from judged_metrics
),

limits as (
    select
        case_bounds.campaign_id,
        case_bounds.candidate_id,
        case_bounds.metric,
        asked.scope,
        count(*) as cases,
        sum(case_bounds.missing)::bigint as missing,
        favg(case_bounds.mean_delta) as mean_delta,
        min(case_bounds.min_delta) as min_delta,
        if(count(delta_low) = count(*), favg(delta_low), null) as mean_delta_low,
        if(count(delta_high) = count(*), favg(delta_high), null) as mean_delta_high,
        if(count(min_delta_low) = count(*), min(min_delta_low), null) as min_delta_low,
        min(min_delta_high) as min_delta_high,
        if(count(candidate_low) = count(*), favg(candidate_low), null) as candidate_mean_low,
        if(count(candidate_high) = count(*), favg(candidate_high), null) as candidate_mean_high,
    from case_bounds
    inner join asked using (campaign_id, metric)
    inner join scope_cases
        on case_bounds.campaign_id = scope_cases.campaign_id
        and case_bounds.case_id = scope_cases.case_id
        and asked.scope = scope_cases.scope
    group by case_bounds.campaign_id, case_bounds.candidate_id, case_bounds.metric, asked.scope
),

bounded as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        comparisons.metric,
        asked.scope,
        comparisons.is_whole,
        if(comparisons.is_whole, coalesce(limits.cases, 0), null) as cases,
        if(comparisons.is_whole, coalesce(limits.missing, 0), null) as missing,
        limits.mean_delta,
        limits.min_delta,
        limits.mean_delta_low,
        limits.mean_delta_high,
        limits.min_delta_low,
        limits.min_delta_high,
        limits.candidate_mean_low,
        limits.candidate_mean_high,
    from comparisons
    inner join asked using (campaign_id, metric)
    left join limits using (campaign_id, candidate_id, metric, scope)
)

select * from bounded
