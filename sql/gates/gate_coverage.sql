-- Gate kind coverage: is the declared evidence there?
-- Grain: one row for each candidate and gate of this kind.
-- It only counts, and never fails: what is missing says nothing against a candidate.
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Complete pairs.
--   threshold: Declared pairs.
select
    policy_gates.campaign_id,
    coverage.candidate_id,
    policy_gates.gate_ix,
    if(coverage.is_complete, 'pass', 'indeterminate') as status,
    case
        when not coverage.is_whole then not_whole_message()
        else format('complete pairs: {} of {} declared', coverage.complete_pairs, coverage.expected_pairs)
            || if(coverage.unexpected_cells > 0, format(', unexpected cells: {}', coverage.unexpected_cells), '')
            || if(coverage.duplicate_cells > 0, format(', duplicate cells: {}', coverage.duplicate_cells), '')
    end as message,
    coverage.complete_pairs::double as value,
    coverage.expected_pairs::double as threshold,
from policy_gates
inner join coverage using (campaign_id)
where policy_gates.kind = 'coverage'
