-- Comparisons: what changed between the baseline and a candidate.
-- Grain: one row for each declared candidate and metric.
-- Aggregates the pairs that were found; `missing` says how many were not, and `bounds` what they could have changed. The
-- unit of analysis is the case: means are over cases, and the standard error is that of independent cases. Where the
-- projections are not whole every number is NULL: never a mean over half of the evidence, or over some of it twice.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline, and no
--     case has more pairs than repeats.
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
        unit_summary(units) as summary,
    from units
    group by campaign_id, candidate_id, metric
),

spreads as (
    select
        units.campaign_id,
        units.candidate_id,
        units.metric,
        fsum((units.mean_delta - means.summary.mean_delta) ** 2) as squared_deviations,
    from units
    inner join means using (campaign_id, candidate_id, metric)
    group by units.campaign_id, units.candidate_id, units.metric
),

declared as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        metrics.metric,
        declarations.cases * declarations.repeats as pairs,
        integrity.is_comparable and coalesce(means.summary.most_pairs <= declarations.repeats, true) as is_whole,
        means.summary,
    from declared_candidates
    inner join declarations using (campaign_id)
    inner join integrity using (campaign_id, candidate_id)
    inner join metrics using (campaign_id)
    left join means using (campaign_id, candidate_id, metric)
    where declared_candidates.arm = 'candidate'
),

compared as (
    select
        declared.campaign_id,
        declared.candidate_id,
        declared.metric,
        comparison_of(
            declared.is_whole, declared.pairs, declared.summary, spreads.squared_deviations, t_quantiles.quantile
        ) as comparison,
    from declared
    left join spreads using (campaign_id, candidate_id, metric)
    left join t_quantiles on declared.summary.cases - 1 = t_quantiles.df
),

told as (
    select
        campaign_id,
        candidate_id,
        metric,
        comparison.*,
    from compared
)

select * from told
