-- Margins: the lines that gates of the policy draw on the mean oriented change of a metric.
-- Grain: one row for each gate and line.
with lines as (
    select
        gate_ix,
        metric,
        unnest(lines) as value,
    from inference_gates
    where source = 'delta' and problem is null

    union all

    select
        gate_ix,
        metric,
        threshold as value,
    from policy_gates
    where kind = 'mean_delta'
)

select
    lines.metric,
    shown(policy_gates.name, 200) as name,
    lines.value,
from lines
inner join policy_gates using (gate_ix)
where lines.metric is not null and lines.value is not null
order by lines.metric, policy_gates.gate_ix, lines.value
