-- Deltas: the declared pairs with what either arm has there, for looking things up.
-- Grain: one row for each declared candidate, metric, case and repeat; where the rounds of the arms are independent
-- (coupling none), for each declared candidate, metric and case, with the means of what was found there.
-- NULL is unknown: a missing value stays a row, with a NULL delta.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   case_id: Case.
--   repeat: Repeat, counted from 0; 0 where a pair is a case.
--   metric: Metric.
--   baseline_value: The baseline's usable value in the metric's own unit and direction; NULL where missing.
--   candidate_value: The candidate's usable value in the metric's own unit and direction; NULL where missing.
--   delta: Oriented delta: positive where the candidate is better; NULL where either value is missing.
with grid as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        declared_pairs.case_id,
        declared_pairs.repeat,
        metrics.metric,
        metrics.direction,
    from declared_pairs
    inner join declared_candidates using (campaign_id)
    inner join metrics using (campaign_id)
    where declared_candidates.arm = 'candidate'
),

candidate_values as (
    select
        campaign_id,
        candidate_id,
        case_id,
        repeat,
        metric,
        value,
    from paired_values
    where arm = 'candidate'
),

looked_up as (
    select
        grid.campaign_id,
        grid.candidate_id,
        grid.case_id,
        grid.repeat,
        grid.metric,
        baseline_observations.value as baseline_value,
        candidate_values.value as candidate_value,
        oriented_delta(grid.direction, candidate_values.value, baseline_observations.value) as delta,
    from grid
    left join baseline_observations using (campaign_id, metric, case_id, repeat)
    left join candidate_values using (campaign_id, candidate_id, metric, case_id, repeat)
)

select * from looked_up
