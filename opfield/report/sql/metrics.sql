-- Metrics: what is measured.
-- Grain: one row for each declared metric, in declared order; at most 40.
select
    metric,
    if(direction > 0, 'maximize', 'minimize') as direction,
    shown(unit, 60) as unit,
    lower,
    upper,
    kind,
    on_domain_failure,
    shown(evaluator, 200) as evaluator,
    shown(description, 400) as description,
    count(*) over () as in_all,
from metrics
order by metric_ix
limit 40
