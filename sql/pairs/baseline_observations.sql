-- Baseline observations: what every candidate's values are paired with.
-- Grain: one row for each declared case, repeat and metric at which the baseline has a usable value.
-- columns:
--   campaign_id: Campaign of the coordinate.
--   case_id: Case of the coordinate.
--   repeat: Repeat of the coordinate, counted from 0.
--   metric: Metric.
--   direction: +1 where more is better, -1 where less is better.
--   value: The baseline's value in the metric's own unit and direction.
select
    observations.campaign_id,
    observations.case_id,
    observations.repeat,
    observations.metric,
    metrics.direction,
    observations.value,
from observations
inner join declarations
    on observations.campaign_id = declarations.campaign_id and observations.candidate_id = declarations.baseline_id
inner join declared_pairs
    on observations.campaign_id = declared_pairs.campaign_id
    and observations.case_id = declared_pairs.case_id
    and observations.repeat = declared_pairs.repeat
inner join metrics
    on observations.campaign_id = metrics.campaign_id and observations.metric = metrics.metric
where observations.arm = 'baseline'
