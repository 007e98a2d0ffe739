-- Quantities: what the gates of a policy infer the means of, each named once however many gates ask for it.
-- Grain: one row for each quantity that a gate without a problem asks for.
-- columns:
--   campaign_id: Campaign.
--   quantity: Name of the quantity.
--   source: delta, the oriented delta of a metric; pass_k, the chance that k tries of a case all succeed; ratio, the
--     largest ratio times the baseline's use of a resource less the candidate's, which is above 0 while the ratio
--     holds.
--   metric: Metric; NULL where the quantity is of a resource.
--   resource: Column of `cells` that a ratio is of, or tokens; NULL for others.
--   k: Tries that must succeed in a row; NULL for others.
--   ratio: Largest ratio; NULL for others.
--   lower: Least value that a unit can have; NULL where it has no bound.
--   upper: Greatest value that a unit can have; NULL where it has no bound.
--   is_score: Whether each unit is one pair of a binary metric.
with asked as (
    select distinct
        campaign_id,
        quantity,
        source,
        metric,
        resource,
        k,
        if(source = 'ratio', threshold, null) as ratio,
    from inference_gates
    where problem is null
),

described as (
    select
        asked.campaign_id,
        asked.quantity,
        asked.source,
        asked.metric,
        asked.resource,
        asked.k,
        asked.ratio,
        case asked.source when 'delta' then judged_metrics.lower - judged_metrics.upper when 'pass_k' then 0 end as lower,
        case asked.source when 'delta' then judged_metrics.upper - judged_metrics.lower when 'pass_k' then 1 end as upper,
        asked.source = 'delta' and judged_metrics.kind = 'binary' and declarations.repeats = 1 as is_score,
    from asked
    inner join declarations using (campaign_id)
    left join judged_metrics using (campaign_id, metric)
)

select * from described
