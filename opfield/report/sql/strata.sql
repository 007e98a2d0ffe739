-- Strata: the change of the metric in focus within each group of cases that the workload names.
-- Grain: one row for each drawn candidate and group; the 240 with the least change first.
-- Intervals are not adjusted for the number of groups.
select
    listed_candidates.position,
    listed_candidates.label,
    shown(strata.group_key, 80) as group_key,
    shown(strata.group_value, 120) as group_value,
    strata.cases,
    strata.pairs,
    strata.missing,
    strata.baseline_mean,
    strata.candidate_mean,
    strata.mean_delta,
    strata.ci_low,
    strata.ci_high,
    count(*) over () as in_all,
from strata
inner join focus using (metric)
inner join listed_candidates using (candidate_id)
qualify listed_candidates.is_drawn
order by strata.mean_delta nulls first, listed_candidates.position, strata.group_key, strata.group_value
limit 240
