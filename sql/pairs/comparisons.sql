-- Comparisons: what changed between the baseline and a candidate.
-- Grain: one row for each declared candidate and metric.
-- Aggregates the pairs that were found; `missing` says how many were not, and `bounds` what they could have changed.
-- Where the rounds of the arms are independent (coupling none) a pair is a case, of the means of what was found there.
-- The unit of analysis is the case: means are over cases, and the standard error is that of independent cases, or of
-- the clusters that the workload declares. The estimator follows the metric's declared kind and what the policy infers
-- to. Where the projections are not whole every number is NULL: never a mean over half of the evidence, or some of it
-- twice.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline, and no
--     case has more pairs than repeats.
--   pairs: Pairs at which both arms have a usable value; NULL where not whole.
--   missing: Declared pairs at which an arm lacks a usable value, or, where rounds are independent, some of them: such
--     a pair counts among `pairs` too; NULL where not whole.
--   cases: Cases with at least one pair; NULL where not whole.
--   clusters: Independent units among them: clusters that the workload declares, and cases without one; NULL where not
--     whole.
--   baseline_mean: Mean over cases of the baseline's values, in the metric's own unit; NULL without pairs.
--   candidate_mean: Mean over cases of the candidate's values, in the metric's own unit; NULL without pairs.
--   mean_delta: Mean over cases of the oriented deltas, positive where the candidate is better; NULL without pairs.
--   min_delta: Least oriented delta of a single pair; NULL without pairs.
--   max_delta: Greatest oriented delta of a single pair; NULL without pairs.
--   method: How the interval is inferred, as `mean_method` says: t, score, constant or repeats; NULL without pairs.
--   standard_error: Standard error of mean_delta over independent units, or by the noise of repeats; NULL where
--     unknown.
--   ci_low: Lower end of the two-sided 95 % interval about mean_delta; NULL where there is none.
--   ci_high: Upper end of the two-sided 95 % interval about mean_delta; NULL where there is none.
--   smallest_effect: Mean delta that such evidence would have shown, one-sided at 2.5 %, with a power of .8 (the
--     minimum detectable effect); NULL where the spread is unknown or none.
with clustered as (
    select distinct on (campaign_id, case_id)
        campaign_id,
        case_id,
        cluster_id,
    from cases
    where cluster_id is not null
),

units as materialized (
    select
        case_deltas.campaign_id,
        case_deltas.candidate_id,
        case_deltas.metric,
        clustered.cluster_id,
        case_deltas.pairs,
        case_deltas.baseline_mean,
        case_deltas.candidate_mean,
        case_deltas.mean_delta,
        case_deltas.min_delta,
        case_deltas.max_delta,
        case_noise.variance as noise,
        case_noise.df as noise_df,
    from case_deltas
    left join clustered using (campaign_id, case_id)
    left join case_noise using (campaign_id, candidate_id, metric, case_id)
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

deviations as (
    select
        units.campaign_id,
        units.candidate_id,
        units.metric,
        units.cluster_id,
        units.mean_delta - means.summary.spread.mean as deviation,
    from units
    inner join means using (campaign_id, candidate_id, metric)
),

cluster_deviations as (
    select campaign_id, candidate_id, metric, deviation
    from deviations
    where cluster_id is null

    union all

    select campaign_id, candidate_id, metric, fsum(deviation) as deviation
    from deviations
    where cluster_id is not null
    group by campaign_id, candidate_id, metric, cluster_id
),

squares as (
    select
        campaign_id,
        candidate_id,
        metric,
        fsum(deviation ** 2) as squared_deviations,
    from cluster_deviations
    group by campaign_id, candidate_id, metric
),

declared as (
    select
        found_pairs.campaign_id,
        found_pairs.candidate_id,
        found_pairs.metric,
        metrics.lower,
        metrics.upper,
        found_pairs.is_whole,
        found_pairs.expected_pairs,
        means.summary,
        struct_insert(
            means.summary.spread,
            squared_deviations := if(
                is_constant(means.summary.spread),
                0,
                squares.squared_deviations * (means.summary.clusters / means.summary.cases) ** 2
            )
        ) as spread,
        mean_method(
            declarations.infers_to,
            'by_kind',
            metrics.kind = 'binary' and declarations.repeats = 1 and means.summary.clusters = means.summary.cases,
            means.summary.cases,
            means.summary.spread
        ) as method,
    from found_pairs
    inner join declarations using (campaign_id)
    inner join metrics using (campaign_id, metric)
    left join means using (campaign_id, candidate_id, metric)
    left join squares using (campaign_id, candidate_id, metric)
),

weighed as (
    select
        *,
        evidence_of(
            method, spread, summary.clusters, summary.clusters, summary.noise,
            case when isfinite(summary.noise_df) then summary.noise_df end,
            lower - upper, null::double
        ) as evidence,
    from declared
),

compared as (
    select
        weighed.campaign_id,
        weighed.candidate_id,
        weighed.metric,
        comparison_of(
            weighed.is_whole,
            weighed.expected_pairs,
            weighed.summary,
            weighed.evidence,
            weighed.upper - weighed.lower,
            t_quantile(weighed.evidence.df, t_quantiles.quantile),
            t_power_quantile(weighed.evidence.df, t_quantiles.power_quantile)
        ) as comparison,
    from weighed
    left join t_quantiles on weighed.evidence.df = t_quantiles.df
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
