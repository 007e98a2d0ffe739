-- Comparisons: the oriented change of each metric, positive where the candidate is better.
-- Grain: one row for each of the first 40 candidates and each of the first 12 metrics, the metric in focus first.
-- Numbers are those of the relation `comparisons`.
with shown_metrics as (
    select
        metrics.metric,
        row_number() over (order by metrics.metric = focus.metric desc, metrics.metric_ix) as metric_rank,
    from metrics
    cross join focus
)

select
    shown_metrics.metric,
    listed_candidates.position,
    listed_candidates.label,
    listed_candidates.decision,
    comparisons.pairs,
    comparisons.missing,
    comparisons.cases,
    comparisons.clusters,
    coalesce(bool_or(comparisons.clusters < comparisons.cases) over (partition by shown_metrics.metric), false)
        as is_clustered,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.mean_delta,
    comparisons.ci_low,
    comparisons.ci_high,
    comparisons.method,
    comparisons.smallest_effect,
    count(*) over () as in_all,
from comparisons
inner join listed_candidates using (candidate_id)
inner join shown_metrics using (metric)
qualify listed_candidates.is_drawn and shown_metrics.metric_rank <= 12
order by shown_metrics.metric_rank, listed_candidates.position
