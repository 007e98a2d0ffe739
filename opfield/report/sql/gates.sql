-- Gates: how each listed candidate stands at each gate of the policy, in the order in which they decide.
-- Grain: one row for each of the first 300 candidates and each gate.
-- `status` is pass, fail, indeterminate, or not reached: an earlier gate decided. The message of a gate that passes
-- stands for the first 40 candidates only, that of one that is not reached for none.
select
    listed_candidates.position,
    listed_candidates.label,
    gate_results.gate_ix,
    shown(gate_results.name, 200) as name,
    gate_results.kind,
    gate_results.metric,
    if(gate_results.is_reached, gate_results.status, 'not reached') as status,
    if(
        gate_results.is_reached and (listed_candidates.is_drawn or gate_results.status <> 'pass'),
        shown(gate_results.message, 600),
        null
    ) as message,
    if(gate_results.is_reached, gate_results.value, null) as value,
    if(gate_results.is_reached, gate_results.threshold, null) as threshold,
from listed_candidates
inner join gate_results using (candidate_id)
where listed_candidates.is_listed
order by listed_candidates.position, gate_results.gate_ix
