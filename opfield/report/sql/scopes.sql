-- Scopes: verdicts of gates that judge groups of cases by themselves, where they do not pass.
-- Grain: one row for each listed candidate, such gate and group; the first 120 in the page's order.
select
    listed_candidates.position,
    listed_candidates.label,
    shown(policy_gates.name, 200) as gate,
    shown(scope_in_words(gate_verdicts.scope), 200) as scope,
    gate_verdicts.status,
    shown(gate_verdicts.message, 400) as message,
    gate_verdicts.value,
    gate_verdicts.threshold,
    count(*) over () as in_all,
from gate_verdicts
inner join policy_gates using (gate_ix)
inner join listed_candidates using (candidate_id)
where gate_verdicts.scope <> '' and gate_verdicts.status is distinct from 'pass'
order by listed_candidates.position, gate_verdicts.gate_ix, gate_verdicts.scope
limit 120
