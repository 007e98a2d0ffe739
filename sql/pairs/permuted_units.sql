-- Permuted units: the values whose signs a permutation test flips.
-- Grain: one row for each gate whose p-values come from permutations, declared candidate, scope of the gate and case in
-- it.
-- columns:
--   campaign_id: Campaign.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   candidate_id: Candidate.
--   scope: Cases that are tested together, as in `judged_scopes`; empty for all cases.
--   case_id: Case.
--   cluster: Unit whose sign is flipped as a whole: the declared cluster, else the case itself.
--   value: Oriented delta of the case if everything missing were the worst for the candidate; NULL where that has no
--     bound.
with tested as (
    select
        inference_gates.campaign_id,
        inference_gates.gate_ix,
        unit_values.candidate_id,
        scope_cases.scope,
        unit_values.case_id,
        scope_cases.cluster,
        if(is_usable(unit_values.low), unit_values.low, null) as value,
    from inference_gates
    inner join judged_scopes using (campaign_id, gate_ix)
    inner join scope_cases using (campaign_id, scope)
    inner join unit_values using (campaign_id, quantity, case_id)
    where inference_gates.is_permuted and inference_gates.problem is null
)

select * from tested
