-- Focus: the metrics that the page looks at first.
-- Grain: one row.
-- The first is the policy's preference, or the metric declared first where there is none; the second is the next one that
-- is declared, NULL where the campaign has one metric only.
with ranked as (
    select
        metrics.metric,
        metrics.direction,
        metrics.unit,
        row_number() over (
            order by metrics.metric is not distinct from declarations.preference desc, metrics.metric_ix
        ) as rank,
    from metrics
    inner join declarations using (campaign_id)
)

select
    max(metric) filter (where rank = 1) as metric,
    max(direction) filter (where rank = 1) as direction,
    max(unit) filter (where rank = 1) as unit,
    max(metric) filter (where rank = 2) as other_metric,
    max(direction) filter (where rank = 2) as other_direction,
    max(unit) filter (where rank = 2) as other_unit,
from ranked
