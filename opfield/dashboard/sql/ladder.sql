-- Ladder: how each candidate stands at each gate, in the order in which the gates decide.
-- Grain: one row for each declared candidate and gate.
select
    candidate_id,
    gate_ix,
    shown(name, 120) as name,
    kind,
    shown(metric, 80) as metric,
    status,
    is_reached,
    shown(message, 600) as message,
    value,
    threshold,
from gate_results
order by candidate_id, gate_ix
