-- Strata: comparisons within each group of cases that the workload names.
-- Grain: one row for each declared candidate, metric, group key and group value.
-- Columns mean what they mean in `comparisons`, over the cases of the stratum alone. Intervals are not adjusted for the
-- number of strata. Where the projections are not whole every number is NULL.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   group_key: What the cases are grouped by.
--   group_value: The group.
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
with memberships as (
    select
        campaign_id,
        case_id,
        unnest(map_keys(groups)) as group_key,
        unnest(map_values(groups)) as group_value,
    from cases
),

sizes as materialized (
    select
        campaign_id,
        group_key,
        group_value,
        row_number() over () as stratum_ix,
        count(*) as cases,
    from memberships
    group by campaign_id, group_key, group_value
),

members as (
    select
        memberships.campaign_id,
        memberships.case_id,
        sizes.stratum_ix,
    from memberships
    inner join sizes using (campaign_id, group_key, group_value)
),

units as materialized (
    select
        members.stratum_ix,
        case_deltas.candidate_id,
        case_deltas.metric,
        case_deltas.pairs,
        case_deltas.baseline_mean,
        case_deltas.candidate_mean,
        case_deltas.mean_delta,
        case_deltas.min_delta,
        case_deltas.max_delta,
    from case_deltas
    inner join members using (campaign_id, case_id)
),

means as (
    select
        stratum_ix,
        candidate_id,
        metric,
        unit_summary(units) as summary,
    from units
    group by stratum_ix, candidate_id, metric
),

spreads as (
    select
        units.stratum_ix,
        units.candidate_id,
        units.metric,
        fsum((units.mean_delta - means.summary.mean_delta) ** 2) as squared_deviations,
    from units
    inner join means using (stratum_ix, candidate_id, metric)
    group by units.stratum_ix, units.candidate_id, units.metric
),

declared as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        metrics.metric,
        sizes.stratum_ix,
        sizes.group_key,
        sizes.group_value,
        sizes.cases * declarations.repeats as pairs,
        integrity.is_comparable and coalesce(means.summary.most_pairs <= declarations.repeats, true) as is_whole,
        means.summary,
    from declared_candidates
    inner join declarations using (campaign_id)
    inner join integrity using (campaign_id, candidate_id)
    inner join metrics using (campaign_id)
    inner join sizes using (campaign_id)
    left join means using (stratum_ix, candidate_id, metric)
    where declared_candidates.arm = 'candidate'
),

compared as (
    select
        declared.campaign_id,
        declared.candidate_id,
        declared.metric,
        declared.group_key,
        declared.group_value,
        comparison_of(
            declared.is_whole, declared.pairs, declared.summary, spreads.squared_deviations, t_quantiles.quantile
        ) as comparison,
    from declared
    left join spreads using (stratum_ix, candidate_id, metric)
    left join t_quantiles on declared.summary.cases - 1 = t_quantiles.df
),

told as (
    select
        campaign_id,
        candidate_id,
        metric,
        group_key,
        group_value,
        comparison.*,
    from compared
)

select * from told
