-- Observations: the values that may enter a comparison.
-- Grain: one row for each cell and metric with a usable value.
-- A successful cell gives the values that it measured. A domain failure gives what the metric's `on_domain_failure`
-- says it is worth: nothing (missing), the worst of the declared range, or a number. Nothing else is an observation.
-- columns:
--   campaign_id: Campaign of the coordinate.
--   candidate_id: Candidate of the coordinate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case of the coordinate.
--   repeat: Repeat of the coordinate, counted from 0.
--   metric: Metric.
--   value: Finite value in the metric's own unit and direction.
--   is_imputed: Whether the value stands for a domain failure rather than for a measurement.
with measured as (
    select
        campaign_id,
        candidate_id,
        arm,
        case_id,
        repeat,
        metric,
        value,
        false as is_imputed,
    from measurements
    where status = 'success' and is_usable(value)
),

worth as (
    select
        campaign_id,
        metric,
        case on_domain_failure
            when 'worst' then if(direction > 0, lower, upper)
            else try_cast(on_domain_failure as double)
        end as value,
    from metrics
),

imputed as (
    select
        cells.campaign_id,
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        cells.repeat,
        worth.metric,
        worth.value,
        true as is_imputed,
    from cells
    inner join worth using (campaign_id)
    where cells.status = 'domain_failure' and is_usable(worth.value)
),

usable as (
    select * from measured
    union all
    select * from imputed
)

select * from usable
