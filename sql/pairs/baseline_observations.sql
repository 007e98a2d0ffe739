-- Baseline observations: what every candidate's values are paired with.
-- Grain: one row for each declared pair, as in `declared_pairs`, and metric at which the baseline has a usable value.
-- columns:
--   campaign_id: Campaign of the pair.
--   case_id: Case of the pair.
--   repeat: Repeat of the pair, counted from 0; 0 where a pair is a case (coupling none).
--   metric: Metric.
--   direction: +1 where more is better, -1 where less is better.
--   value: The baseline's value in the metric's own unit and direction, as in `paired_values`.
--   found: Usable values that it is the mean of.
--   declared: Repeats that the baseline declares there.
select
    paired_values.campaign_id,
    paired_values.case_id,
    paired_values.repeat,
    paired_values.metric,
    metrics.direction,
    paired_values.value,
    paired_values.found,
    paired_values.declared,
from paired_values
inner join declarations
    on paired_values.campaign_id = declarations.campaign_id and paired_values.candidate_id = declarations.baseline_id
inner join declared_pairs
    on paired_values.campaign_id = declared_pairs.campaign_id
    and paired_values.case_id = declared_pairs.case_id
    and paired_values.repeat = declared_pairs.repeat
inner join metrics
    on paired_values.campaign_id = metrics.campaign_id and paired_values.metric = metrics.metric
where paired_values.arm = 'baseline'
