-- Case noise: how much the mean delta of a case varies with its repeats. Only campaigns that infer to these very cases
-- (`infers_to: these_cases`) rest on it; others have no row.
-- Grain: one row for each candidate, metric and case with at least two pairs. Where the rounds of the arms are
-- independent (coupling none), for each with at least two values of either arm: the delta of their means then varies by
-- the sum of what each mean does, with the degrees of freedom of Welch and Satterthwaite.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   variance: Variance of the case's mean delta: that of its single deltas over their number, or the sum of that of
--     either arm's values over theirs; 0 where all are equal.
--   df: Pairs less one, or those of Welch and Satterthwaite.
with asked as (
    select
        campaign_id,
        coupling is distinct from 'none' as is_coupled,
    from declarations
    where infers_to = 'these_cases'
),

-- The arms are joined here once more, the baseline's few values first: nothing else is read where nobody asks. The
-- planner reads the values before it knows that, unless the campaigns that ask stand beside them.
asked_values as materialized (
    select
        baseline_observations.campaign_id,
        baseline_observations.metric,
        baseline_observations.case_id,
        baseline_observations.repeat,
        baseline_observations.direction,
        baseline_observations.value,
    from baseline_observations
    inner join asked using (campaign_id)
    where asked.is_coupled
),

asked_pairs as materialized (
    select
        observations.campaign_id,
        observations.candidate_id,
        observations.metric,
        observations.case_id,
        oriented_delta(asked_values.direction, observations.value, asked_values.value) as delta,
    from observations
    semi join (select campaign_id from asked where is_coupled) using (campaign_id)
    inner join asked_values using (campaign_id, metric, case_id, repeat)
    where observations.arm = 'candidate'
),

means as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        count(*) as pairs,
        favg(delta) as mean_delta,
        min(delta) = max(delta) as is_constant,
    from asked_pairs
    group by campaign_id, candidate_id, metric, case_id
    having count(*) > 1
),

spreads as (
    select
        means.campaign_id,
        means.candidate_id,
        means.metric,
        means.case_id,
        any_value(means.pairs) as pairs,
        any_value(means.is_constant) as is_constant,
        fsum((asked_pairs.delta - means.mean_delta) ** 2) as squared_deviations,
    from asked_pairs
    inner join means using (campaign_id, candidate_id, metric, case_id)
    group by means.campaign_id, means.candidate_id, means.metric, means.case_id
),

noises as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        if(is_constant, 0, squared_deviations / (pairs - 1) / pairs) as variance,
        (pairs - 1)::double as df,
    from spreads
),

arm_noises as (
    select
        campaign_id,
        candidate_id,
        arm,
        metric,
        case_id,
        squared_deviations / (found - 1) / found as variance,
        found - 1 as df,
    from asked
    inner join arm_spreads using (campaign_id)
    where arm_spreads.found > 1
),

independent_noises as (
    select
        own.campaign_id,
        own.candidate_id,
        own.metric,
        own.case_id,
        own.variance + base.variance as variance,
        own.variance / nullif(own.variance + base.variance, 0) as share,
        own.df,
        base.df as base_df,
    from arm_noises as own
    inner join arm_noises as base using (campaign_id, metric, case_id)
    where own.arm = 'candidate' and base.arm = 'baseline'
),

together as (
    select * from noises

    union all

    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        variance,
        coalesce(1 / (share ** 2 / df + (1 - share) ** 2 / base_df), df + base_df) as df,
    from independent_noises
)

select * from together
