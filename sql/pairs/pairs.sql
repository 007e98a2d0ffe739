-- Pairs: the evidence of a paired comparison, both arms at the same case and repeat.
-- Grain: one row for each candidate, metric, declared case and repeat at which both arms have a usable value.
-- A pair with something missing has no row here; `deltas` has one.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   repeat: Repeat, counted from 0.
--   baseline_value: The baseline's value in the metric's own unit and direction.
--   candidate_value: The candidate's value in the metric's own unit and direction.
--   delta: Oriented delta: positive where the candidate is better.
select
    observations.campaign_id,
    observations.candidate_id,
    observations.metric,
    observations.case_id,
    observations.repeat,
    baseline_observations.value as baseline_value,
    observations.value as candidate_value,
    oriented_delta(
        baseline_observations.direction, observations.value, baseline_observations.value
    ) as delta,
from observations
inner join baseline_observations using (campaign_id, metric, case_id, repeat)
where observations.arm = 'candidate'
