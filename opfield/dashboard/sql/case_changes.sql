-- Case changes: what the metric in focus did at the case that is asked for, on each candidate.
-- Grain: one row for each candidate with a pair there, the largest change first; the first 200.
select
    listed_candidates.candidate_id,
    listed_candidates.label,
    case_deltas.metric,
    case_deltas.pairs,
    case_deltas.baseline_mean,
    case_deltas.candidate_mean,
    case_deltas.mean_delta,
    count(*) over () as in_all,
from case_deltas
inner join focus using (metric)
inner join listed_candidates using (candidate_id)
where case_deltas.case_id = getvariable('asked_case')
order by abs(case_deltas.mean_delta) desc, listed_candidates.position
limit 200
