-- Changes: what each metric did from the baseline to each candidate; positive is better.
-- Grain: one row for each declared candidate and metric, in declared order of metrics.
select
    comparisons.candidate_id,
    shown(comparisons.metric, 80) as metric,
    metrics.unit,
    metrics.direction,
    comparisons.pairs,
    comparisons.missing,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.mean_delta,
    comparisons.ci_low,
    comparisons.ci_high,
    metrics.metric_ix,
from comparisons
inner join metrics using (campaign_id, metric)
order by comparisons.candidate_id, metrics.metric_ix
