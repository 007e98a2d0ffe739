-- Deltas: the declared grid with what either arm has there, for looking things up.
-- Grain: one row for each declared candidate, metric, case and repeat.
-- NULL is unknown: a missing value stays a row, with a NULL delta.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   case_id: Case.
--   repeat: Repeat, counted from 0.
--   metric: Metric.
--   baseline_value: The baseline's usable value in the metric's own unit and direction; NULL where missing.
--   candidate_value: The candidate's usable value in the metric's own unit and direction; NULL where missing.
--   delta: Oriented delta: positive where the candidate is better; NULL where either value is missing.
with grid as (
    select
        coordinates.campaign_id,
        coordinates.candidate_id,
        coordinates.case_id,
        coordinates.repeat,
        metrics.metric,
        metrics.direction,
    from coordinates
    inner join metrics using (campaign_id)
    where coordinates.arm = 'candidate'
),

candidate_observations as (
    select
        campaign_id,
        candidate_id,
        case_id,
        repeat,
        metric,
        value,
    from observations
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
        candidate_observations.value as candidate_value,
        oriented_delta(
            grid.direction, candidate_observations.value, baseline_observations.value
        ) as delta,
    from grid
    left join baseline_observations using (campaign_id, metric, case_id, repeat)
    left join candidate_observations using (campaign_id, candidate_id, metric, case_id, repeat)
)

select * from looked_up
