-- Bounds: between what limits a comparison would lie, whatever the missing values are.
-- Grain: one row for each declared candidate and metric.
-- Each missing value takes the worst and the best value of the metric's declared range; where one arm of a pair is known
-- its value is used, so that the bounds are tight. Without gaps they equal the estimate. A bound is NULL where a missing
-- value would need an end of the range that is not declared, and where the projections are not whole.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline.
--   missing: Declared pairs with a value missing on either arm; NULL where not whole.
--   candidate_mean: Mean of the candidate over the pairs found, as in `comparisons`.
--   mean_delta: Estimate over the pairs found, as in `comparisons`.
--   min_delta: Least oriented delta of a pair found, as in `comparisons`.
--   mean_delta_low: Mean oriented delta if every missing value were the one worst for the candidate.
--   mean_delta_high: Mean oriented delta if every missing value were the one best for the candidate.
--   min_delta_low: Least oriented delta of any declared pair in the worst case.
--   min_delta_high: What the least oriented delta cannot exceed, even in the best case; NULL where no pair limits it.
--   candidate_mean_low: Mean of the candidate over all its declared coordinates if every missing value were the
--     numerically lowest, in the metric's own unit.
--   candidate_mean_high: The same if every missing value were the numerically highest.
with compared as materialized (
    select
        campaign_id,
        candidate_id,
        metric,
        is_whole,
        pairs,
        missing,
        mean_delta,
        min_delta,
        candidate_mean,
    from comparisons
),

gaps as (
    select
        compared.campaign_id,
        compared.candidate_id,
        compared.metric,
        declarations.repeats,
        metrics.direction,
        metrics.lower,
        metrics.upper,
        if(metrics.direction > 0, metrics.lower, metrics.upper) as worst,
        if(metrics.direction > 0, metrics.upper, metrics.lower) as best,
    from compared
    inner join metrics using (campaign_id, metric)
    inner join declarations using (campaign_id)
    where compared.missing > 0
),

units as (
    select
        gaps.campaign_id,
        gaps.candidate_id,
        gaps.metric,
        workload.case_id,
        coalesce(case_deltas.pairs, 0) = gaps.repeats as is_full,
        case_deltas.candidate_mean,
        case_deltas.mean_delta,
        case_deltas.min_delta,
    from gaps
    inner join (select distinct campaign_id, case_id from cases) as workload using (campaign_id)
    left join case_deltas using (campaign_id, candidate_id, metric, case_id)
),

gap_cases as materialized (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
    from units
    where not is_full
),

candidate_observations as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        repeat,
        value,
    from observations
    semi join gap_cases using (campaign_id, candidate_id, metric, case_id)
    where arm = 'candidate'
),

filled as (
    select
        gaps.campaign_id,
        gaps.candidate_id,
        gaps.metric,
        gap_cases.case_id,
        oriented_delta(
            gaps.direction,
            coalesce(candidate_observations.value, gaps.worst),
            coalesce(baseline_observations.value, gaps.best)
        ) as low_delta,
        oriented_delta(
            gaps.direction,
            coalesce(candidate_observations.value, gaps.best),
            coalesce(baseline_observations.value, gaps.worst)
        ) as high_delta,
        coalesce(candidate_observations.value, gaps.lower) as low_value,
        coalesce(candidate_observations.value, gaps.upper) as high_value,
    from gap_cases
    inner join gaps using (campaign_id, candidate_id, metric)
    inner join declared_pairs using (campaign_id, case_id)
    left join baseline_observations using (campaign_id, metric, case_id, repeat)
    left join candidate_observations using (campaign_id, candidate_id, metric, case_id, repeat)
),

filled_units as (
    select
        campaign_id,
        candidate_id,
        metric,
        if(count(low_delta) = count(*), favg(low_delta), null) as low_delta,
        if(count(high_delta) = count(*), favg(high_delta), null) as high_delta,
        if(count(low_delta) = count(*), min(low_delta), null) as min_low_delta,
        min(high_delta) as min_high_delta,
        if(count(low_value) = count(*), favg(low_value), null) as low_value,
        if(count(high_value) = count(*), favg(high_value), null) as high_value,
    from filled
    group by campaign_id, candidate_id, metric, case_id

    union all

    select
        campaign_id,
        candidate_id,
        metric,
        mean_delta as low_delta,
        mean_delta as high_delta,
        min_delta as min_low_delta,
        min_delta as min_high_delta,
        candidate_mean as low_value,
        candidate_mean as high_value,
    from units
    where is_full
),

limits as (
    select
        campaign_id,
        candidate_id,
        metric,
        if(count(low_delta) = count(*), favg(low_delta), null) as mean_delta_low,
        if(count(high_delta) = count(*), favg(high_delta), null) as mean_delta_high,
        if(count(min_low_delta) = count(*), min(min_low_delta), null) as min_delta_low,
        min(min_high_delta) as min_delta_high,
        if(count(low_value) = count(*), favg(low_value), null) as candidate_mean_low,
        if(count(high_value) = count(*), favg(high_value), null) as candidate_mean_high,
    from filled_units
    group by campaign_id, candidate_id, metric
),

bounded as (
    select
        compared.campaign_id,
        compared.candidate_id,
        compared.metric,
        compared.is_whole,
        compared.missing,
        compared.candidate_mean,
        compared.mean_delta,
        compared.min_delta,
        if(compared.missing > 0, limits.mean_delta_low, compared.mean_delta) as mean_delta_low,
        if(compared.missing > 0, limits.mean_delta_high, compared.mean_delta) as mean_delta_high,
        if(compared.missing > 0, limits.min_delta_low, compared.min_delta) as min_delta_low,
        if(compared.missing > 0, limits.min_delta_high, compared.min_delta) as min_delta_high,
        if(compared.missing > 0, limits.candidate_mean_low, compared.candidate_mean) as candidate_mean_low,
        if(compared.missing > 0, limits.candidate_mean_high, compared.candidate_mean) as candidate_mean_high,
    from compared
    left join limits using (campaign_id, candidate_id, metric)
)

select * from bounded
