-- Variance components: how much of the doubt about a mean delta comes from which cases were taken, and how much from
-- the noise of their repeats. `opfield power` plans with it.
-- Grain: one row for each declared candidate and metric.
-- The variance of the mean delta over cases is (between_variance + within_variance / repeats) / cases, so that repeats
-- lessen the second part only. Both are estimated by the method of moments: within_variance from the deviations of
-- single deltas from the mean of their case, between_variance from what the spread of the case means leaves over, and 0
-- where that is negative. Where cases share clusters, between_variance holds what they share as well: it is over
-- clusters, for cases that come in clusters like these.
-- Where the rounds of the arms are independent (coupling none) within_variance is the sum of that of either arm's single
-- values about the mean of their case, and repeats is the number of rounds on either arm that lessens it as found.
-- A component is NULL where the evidence cannot tell, and `problem` says why; everything is where the projections are
-- not whole.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   cases: Cases with at least one pair; NULL where not whole.
--   clusters: Independent units among them: clusters, and cases without one; NULL where not whole.
--   pairs: Pairs found; NULL where not whole.
--   repeats: Harmonic mean of the pairs of a case, under coupling none of the rounds of an arm; NULL without pairs.
--   mean_delta: Mean over cases of the oriented deltas; NULL without pairs.
--   between_variance: Variance of the true deltas of cases; NULL for one unit, and where every case has one pair.
--   within_variance: Variance of a single delta about the true delta of its case; NULL where every case has one pair.
--   within_df: Degrees of freedom of within_variance: pairs less cases, under coupling none values of both arms less
--     means of them; NULL without pairs.
--   mean_variance: Variance of mean_delta over independent units, as found; NULL for fewer than two units.
--   problem: Why a component is unknown; NULL where both are known.
with units as materialized (
    select
        case_deltas.campaign_id,
        case_deltas.candidate_id,
        case_deltas.metric,
        case_deltas.case_id,
        scope_cases.cluster,
        case_deltas.pairs,
        case_deltas.mean_delta,
        case_deltas.min_delta < case_deltas.max_delta as is_noisy,
        greatest(abs(case_deltas.baseline_mean), abs(case_deltas.candidate_mean)) as magnitude,
    from case_deltas
    inner join scope_cases
        on case_deltas.campaign_id = scope_cases.campaign_id
        and case_deltas.case_id = scope_cases.case_id
        and scope_cases.scope = ''
),

means as (
    select
        campaign_id,
        candidate_id,
        metric,
        count(*) as cases,
        count(distinct cluster) as clusters,
        sum(pairs)::bigint as pairs,
        count(*) / fsum(1 / pairs) as repeats,
        spread_of(mean_delta, magnitude) as spread,
    from units
    group by campaign_id, candidate_id, metric
),

cluster_deviations as (
    select
        units.campaign_id,
        units.candidate_id,
        units.metric,
        fsum(units.mean_delta - means.spread.mean) as deviation,
    from units
    inner join means using (campaign_id, candidate_id, metric)
    group by units.campaign_id, units.candidate_id, units.metric, units.cluster
),

between_squares as (
    select
        campaign_id,
        candidate_id,
        metric,
        fsum(deviation ** 2) as squared_deviations,
    from cluster_deviations
    group by campaign_id, candidate_id, metric
),

within_squares as (
    select
        pairs.campaign_id,
        pairs.candidate_id,
        pairs.metric,
        fsum((pairs.delta - units.mean_delta) ** 2) as squared_deviations,
    from pairs
    inner join units using (campaign_id, candidate_id, metric, case_id)
    where units.is_noisy
    group by pairs.campaign_id, pairs.candidate_id, pairs.metric
),

arm_variances as (
    select
        units.campaign_id,
        units.candidate_id,
        units.metric,
        fsum(own.squared_deviations) / nullif(sum(own.found - 1), 0) as own_variance,
        fsum(base.squared_deviations) / nullif(sum(base.found - 1), 0) as base_variance,
        favg(1 / own.found) as own_share,
        favg(1 / base.found) as base_share,
        sum(own.found + base.found - 2)::bigint as df,
    from units
    inner join arm_spreads as own using (campaign_id, candidate_id, metric, case_id)
    inner join arm_spreads as base
        on units.campaign_id = base.campaign_id and units.metric = base.metric and units.case_id = base.case_id
    where own.arm = 'candidate' and base.arm = 'baseline'
    group by units.campaign_id, units.candidate_id, units.metric
),

independent as (
    select
        campaign_id,
        candidate_id,
        metric,
        own_variance + base_variance as within_variance,
        coalesce(
            (own_variance + base_variance)
            / nullif(own_variance * own_share + base_variance * base_share, 0),
            2 / (own_share + base_share)
        ) as repeats,
        if(own_variance is null or base_variance is null, 0, df) as within_df,
    from arm_variances
),

told as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        comparisons.metric,
        comparisons.is_whole,
        if(comparisons.is_whole, coalesce(means.cases, 0), null) as cases,
        if(comparisons.is_whole, coalesce(means.clusters, 0), null) as clusters,
        if(comparisons.is_whole, coalesce(means.pairs, 0), null) as pairs,
        if(comparisons.is_whole, coalesce(independent.repeats, means.repeats), null) as repeats,
        if(comparisons.is_whole, means.spread.mean, null) as mean_delta,
        if(comparisons.is_whole, coalesce(independent.within_df, means.pairs - means.cases), null) as within_df,
        case
            when not comparisons.is_whole or means.clusters < 2 then null
            when is_constant(means.spread) then 0
            else means.clusters / (means.clusters - 1) * between_squares.squared_deviations / means.cases ** 2
        end as mean_variance,
        case
            when not comparisons.is_whole then null
            when independent.campaign_id is not null then independent.within_variance
            when means.pairs > means.cases
                then coalesce(within_squares.squared_deviations, 0) / (means.pairs - means.cases)
        end as within_variance,
    from comparisons
    left join means using (campaign_id, candidate_id, metric)
    left join between_squares using (campaign_id, candidate_id, metric)
    left join within_squares using (campaign_id, candidate_id, metric)
    left join independent using (campaign_id, candidate_id, metric)
),

described as (
    select
        campaign_id,
        candidate_id,
        metric,
        cases,
        clusters,
        pairs,
        repeats,
        mean_delta,
        case
            when mean_variance is not null and within_variance is not null
                then greatest(0, cases * mean_variance - within_variance / repeats)
        end as between_variance,
        within_variance,
        within_df,
        mean_variance,
        case
            when not is_whole then not_whole_message()
            when cases = 0 then 'no pair was found'
            when cases = 1 then 'one case shows nothing of how cases differ'
            when clusters = 1 then 'one cluster shows nothing of how clusters differ'
            when within_df = 0 then 'no case was tried twice, so that cases and repeats cannot be told apart'
        end as problem,
    from told
)

select * from described
