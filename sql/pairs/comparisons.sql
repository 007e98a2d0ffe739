-- Comparisons: what changed between the baseline and a candidate.
-- Grain: one row for each declared candidate and metric.
-- Aggregates the pairs that were found; `missing` says how many were not, and `bounds` what they could have changed. The
-- unit of analysis is the case: means are over cases, and the standard error is that of independent cases. Where the
-- projections are not whole every number is NULL: never a mean over half of the evidence, or over some of it twice.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline.
--   pairs: Pairs at which both arms have a usable value; NULL where not whole.
--   missing: Declared pairs at which they have not; NULL where not whole.
--   cases: Cases with at least one pair; NULL where not whole.
--   baseline_mean: Mean over cases of the baseline's values, in the metric's own unit; NULL without pairs.
--   candidate_mean: Mean over cases of the candidate's values, in the metric's own unit; NULL without pairs.
--   mean_delta: Mean over cases of the oriented deltas, positive where the candidate is better; NULL without pairs.
--   min_delta: Least oriented delta of a single pair; NULL without pairs.
--   max_delta: Greatest oriented delta of a single pair; NULL without pairs.
--   standard_error: Standard error of mean_delta over cases; NULL for fewer than two cases.
--   ci_low: Lower end of the two-sided 95 % t interval about mean_delta; NULL for fewer than two cases.
--   ci_high: Upper end of the two-sided 95 % t interval about mean_delta; NULL for fewer than two cases.
with units as materialized (
    select
        campaign_id,
        candidate_id,
        metric,
        pairs,
        baseline_mean,
        candidate_mean,
        mean_delta,
        min_delta,
        max_delta,
    from case_deltas
),

means as (
    select
        campaign_id,
        candidate_id,
        metric,
        sum(pairs)::bigint as pairs,
        count(*) as cases,
        favg(baseline_mean) as baseline_mean,
        favg(candidate_mean) as candidate_mean,
        favg(mean_delta) as mean_delta,
        min(min_delta) as min_delta,
        max(max_delta) as max_delta,
    from units
    group by campaign_id, candidate_id, metric
),

spreads as (
    select
        units.campaign_id,
        units.candidate_id,
        units.metric,
        fsum((units.mean_delta - means.mean_delta) ** 2) as squared_deviations,
    from units
    inner join means using (campaign_id, candidate_id, metric)
    group by units.campaign_id, units.candidate_id, units.metric
),

declared as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        metrics.metric,
        integrity.is_comparable as is_whole,
        declarations.cases * declarations.repeats as expected_pairs,
    from declared_candidates
    inner join declarations using (campaign_id)
    inner join integrity using (campaign_id, candidate_id)
    inner join metrics using (campaign_id)
    where declared_candidates.arm = 'candidate'
),

compared as (
    select
        declared.campaign_id,
        declared.candidate_id,
        declared.metric,
        declared.is_whole,
        if(declared.is_whole, coalesce(means.pairs, 0), null) as pairs,
        if(declared.is_whole, declared.expected_pairs - coalesce(means.pairs, 0), null) as missing,
        if(declared.is_whole, coalesce(means.cases, 0), null) as cases,
        if(declared.is_whole, means.baseline_mean, null) as baseline_mean,
        if(declared.is_whole, means.candidate_mean, null) as candidate_mean,
        if(declared.is_whole, means.mean_delta, null) as mean_delta,
        if(declared.is_whole, means.min_delta, null) as min_delta,
        if(declared.is_whole, means.max_delta, null) as max_delta,
        if(declared.is_whole, standard_error(spreads.squared_deviations, means.cases), null) as standard_error,
        t_quantile(means.cases - 1, t_quantiles.quantile) as quantile,
    from declared
    left join means using (campaign_id, candidate_id, metric)
    left join spreads using (campaign_id, candidate_id, metric)
    left join t_quantiles on means.cases - 1 = t_quantiles.df
),

with_interval as (
    select
        * exclude (quantile),
        mean_delta - quantile * standard_error as ci_low,
        mean_delta + quantile * standard_error as ci_high,
    from compared
)

select * from with_interval
