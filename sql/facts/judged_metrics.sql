-- Judged metrics: the metrics on which a campaign's verdicts rest, so that nothing is computed for the others.
-- Grain: one row for each metric that a gate of the policy or its preference names.
-- columns:
--   campaign_id: Campaign.
--   metric: Metric.
--   direction: +1 where more is better, -1 where less is.
--   lower: Lowest possible value; NULL where it has no bound.
--   upper: Highest possible value; NULL where it has no bound.
--   kind: continuous, binary or count.
with named as (
    select campaign_id, metric from policy_gates where metric is not null
    union
    select campaign_id, preference as metric from declarations where preference is not null
),

judged as (
    select
        metrics.campaign_id,
        metrics.metric,
        metrics.direction,
        metrics.lower,
        metrics.upper,
        metrics.kind,
    from metrics
    semi join named using (campaign_id, metric)
)

select * from judged
