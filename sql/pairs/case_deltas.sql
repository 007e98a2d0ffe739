-- Case deltas: the units of analysis. Repeats of a case are averaged inside it, so that more repeats of the same cases
-- do not pass for more evidence.
-- Where the rounds of the arms are independent (coupling none) a case is one pair, of the means of either arm there.
-- Grain: one row for each candidate, metric and case with at least one pair.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   case_id: Case.
--   pairs: Pairs found at the case.
--   baseline_mean: Mean of the baseline's values over those pairs.
--   candidate_mean: Mean of the candidate's values over those pairs.
--   mean_delta: Mean of the oriented deltas over those pairs.
--   min_delta: Least oriented delta of a single pair.
--   max_delta: Greatest oriented delta of a single pair.
select
    campaign_id,
    candidate_id,
    metric,
    case_id,
    count(*) as pairs,
    favg(baseline_value) as baseline_mean,
    favg(candidate_value) as candidate_mean,
    favg(delta) as mean_delta,
    min(delta) as min_delta,
    max(delta) as max_delta,
from pairs
group by campaign_id, candidate_id, metric, case_id
