-- Pairs: the evidence of a paired comparison, both arms at the same place.
-- Grain: one row for each candidate, metric and declared pair at which both arms have a usable value.
-- A pair is a case and repeat; where the rounds of the arms are independent (coupling none) it is a case, and either
-- value the mean of what was found of its arm there. A pair that lacks an arm has no row here; `deltas` has one.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   repeat: Repeat, counted from 0; 0 where a pair is a case.
--   baseline_value: The baseline's value in the metric's own unit and direction.
--   candidate_value: The candidate's value in the metric's own unit and direction.
--   delta: Oriented delta: positive where the candidate is better.
select
    paired_values.campaign_id,
    paired_values.candidate_id,
    paired_values.metric,
    paired_values.case_id,
    paired_values.repeat,
    baseline_observations.value as baseline_value,
    paired_values.value as candidate_value,
    oriented_delta(
        baseline_observations.direction, paired_values.value, baseline_observations.value
    ) as delta,
from paired_values
inner join baseline_observations using (campaign_id, metric, case_id, repeat)
where paired_values.arm = 'candidate'
