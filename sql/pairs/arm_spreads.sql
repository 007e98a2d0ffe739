-- Arm spreads: how the values of one arm at one case spread, where the rounds of the arms are independent (coupling
-- none). Where repeats pair, the spread of their deltas is what counts, and a campaign has no row.
-- Grain: one row for each candidate, the baseline included, metric and case with a usable value.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   metric: Metric.
--   case_id: Case.
--   found: Usable values at declared repeats.
--   squared_deviations: Sum of their squared deviations from their mean; 0 where all are equal.
with found as (
    select
        observations.campaign_id,
        observations.candidate_id,
        observations.arm,
        observations.metric,
        observations.case_id,
        observations.value,
    from observations
    inner join independent_repeats using (campaign_id, candidate_id, arm, case_id)
    where observations.repeat < independent_repeats.repeats
),

means as (
    select
        campaign_id,
        candidate_id,
        arm,
        metric,
        case_id,
        count(*) as found,
        favg(value) as mean,
        min(value) = max(value) as is_constant,
    from found
    group by campaign_id, candidate_id, arm, metric, case_id
),

spreads as (
    select
        means.campaign_id,
        means.candidate_id,
        means.arm,
        means.metric,
        means.case_id,
        any_value(means.found) as found,
        if(any_value(means.is_constant), 0, fsum((found.value - means.mean) ** 2)) as squared_deviations,
    from means
    inner join found using (campaign_id, candidate_id, arm, metric, case_id)
    group by means.campaign_id, means.candidate_id, means.arm, means.metric, means.case_id
)

select * from spreads
