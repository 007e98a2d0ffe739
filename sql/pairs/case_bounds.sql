-- Case bounds: between what limits each unit of a judged metric lies, whatever its missing values are.
-- Grain: one row for each declared candidate, judged metric and declared case.
-- Each missing value takes the worst and the best value of the metric's declared range; where one arm of a pair is
-- known its value is used, so that the bounds are tight. Without gaps they equal what was found. A bound is NULL where
-- a missing value would need an end of the range that is not declared. Where the rounds of the arms are independent
-- (coupling none) a case is one pair of means, and each repeat that an arm declares and lacks takes its end of the range.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   missing: Declared pairs of the case with a value missing on either arm; under coupling none 1 where either arm lacks
--     a value of a declared repeat, although the pair may have a delta.
--   mean_delta: Mean oriented delta over the pairs found; NULL without pairs.
--   min_delta: Least oriented delta of a single pair found.
--   delta_low: Mean oriented delta if every missing value were the one worst for the candidate.
--   delta_high: Mean oriented delta if every missing value were the one best for the candidate.
--   min_delta_low: Least oriented delta of a single pair in the worst case.
--   min_delta_high: What the least oriented delta of a single pair cannot exceed; NULL where no pair limits it.
--   candidate_low: Mean of the candidate if every missing value were the numerically lowest, in the metric's own unit.
--   candidate_high: The same if every missing value were the numerically highest.
with judged as (
    select
        found_pairs.campaign_id,
        found_pairs.candidate_id,
        found_pairs.metric,
        found_pairs.missing,
        coalesce(declarations.coupling = 'none', false) as is_independent,
        judged_metrics.direction,
        judged_metrics.lower,
        judged_metrics.upper,
        if(judged_metrics.direction > 0, judged_metrics.lower, judged_metrics.upper) as worst,
        if(judged_metrics.direction > 0, judged_metrics.upper, judged_metrics.lower) as best,
    from found_pairs
    inner join judged_metrics using (campaign_id, metric)
    inner join declarations using (campaign_id)
    where found_pairs.is_whole
),

plans as (
    select
        campaign_id,
        case_id,
        count(*) as pairs,
    from declared_pairs
    group by campaign_id, case_id
),

full_units as materialized (
    select
        case_deltas.campaign_id,
        case_deltas.candidate_id,
        case_deltas.metric,
        case_deltas.case_id,
        0 as missing,
        case_deltas.mean_delta,
        case_deltas.min_delta,
        case_deltas.mean_delta as delta_low,
        case_deltas.mean_delta as delta_high,
        case_deltas.min_delta as min_delta_low,
        case_deltas.min_delta as min_delta_high,
        case_deltas.candidate_mean as candidate_low,
        case_deltas.candidate_mean as candidate_high,
    from case_deltas
    inner join judged using (campaign_id, candidate_id, metric)
    inner join plans using (campaign_id, case_id)
    where not judged.is_independent and case_deltas.pairs = plans.pairs
),

gap_cases as materialized (
    select
        judged.campaign_id,
        judged.candidate_id,
        judged.metric,
        workload.case_id,
    from judged
    inner join planned_cases as workload using (campaign_id)
    anti join full_units using (campaign_id, candidate_id, metric, case_id)
    where judged.missing > 0 or judged.is_independent
),

candidate_values as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        repeat,
        value,
        found,
        declared,
    from paired_values
    semi join gap_cases using (campaign_id, candidate_id, metric, case_id)
    where arm = 'candidate'
),

filled as (
    select
        judged.campaign_id,
        judged.candidate_id,
        judged.metric,
        gap_cases.case_id,
        coalesce(
            candidate_values.found >= candidate_values.declared
            and baseline_observations.found >= baseline_observations.declared,
            false
        ) as is_full,
        oriented_delta(judged.direction, candidate_values.value, baseline_observations.value) as delta,
        oriented_delta(
            judged.direction,
            filled_mean(candidate_values.value, candidate_values.found, candidate_values.declared, judged.worst),
            filled_mean(
                baseline_observations.value, baseline_observations.found, baseline_observations.declared, judged.best
            )
        ) as low_delta,
        oriented_delta(
            judged.direction,
            filled_mean(candidate_values.value, candidate_values.found, candidate_values.declared, judged.best),
            filled_mean(
                baseline_observations.value, baseline_observations.found, baseline_observations.declared, judged.worst
            )
        ) as high_delta,
        filled_mean(candidate_values.value, candidate_values.found, candidate_values.declared, judged.lower)
            as low_value,
        filled_mean(candidate_values.value, candidate_values.found, candidate_values.declared, judged.upper)
            as high_value,
    from gap_cases
    inner join judged using (campaign_id, candidate_id, metric)
    inner join declared_pairs using (campaign_id, case_id)
    left join baseline_observations using (campaign_id, metric, case_id, repeat)
    left join candidate_values using (campaign_id, candidate_id, metric, case_id, repeat)
),

gap_units as (
    select
        campaign_id,
        candidate_id,
        metric,
        case_id,
        count(*) filter (where not is_full) as missing,
        favg(delta) as mean_delta,
        min(delta) as min_delta,
        if(count(low_delta) = count(*), favg(low_delta), null) as delta_low,
        if(count(high_delta) = count(*), favg(high_delta), null) as delta_high,
        if(count(low_delta) = count(*), min(low_delta), null) as min_delta_low,
        min(high_delta) as min_delta_high,
        if(count(low_value) = count(*), favg(low_value), null) as candidate_low,
        if(count(high_value) = count(*), favg(high_value), null) as candidate_high,
    from filled
    group by campaign_id, candidate_id, metric, case_id
),

bounded as (
    select * from full_units
    union all
    select * from gap_units
)

select * from bounded
