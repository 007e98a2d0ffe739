-- Gate kind worst_delta: is the oriented delta of every single pair at least the threshold?
-- Grain: one row for each candidate, gate of this kind and scope.
-- One pair below the threshold fails at once. With gaps it passes only if the worst fill of the missing values would
-- pass. The comparison has no slack.
-- needs: metric, threshold
-- takes: within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Least oriented delta of a pair found; NULL where unknown.
--   threshold: What it must at least be.
select
    policy_gates.campaign_id,
    bounds.candidate_id,
    policy_gates.gate_ix,
    judged_scopes.scope,
    case
        when bounds.min_delta_high < policy_gates.threshold then 'fail'
        when bounds.min_delta_low >= policy_gates.threshold then 'pass'
        else 'indeterminate'
    end as status,
    case
        when not bounds.is_whole then not_whole_message()
        when bounds.cases = 0 then no_case_message()
        else format(
            'least oriented delta of {} is {}, at least {} asked',
            policy_gates.metric, in_words(bounds.min_delta), in_words(policy_gates.threshold)
        ) || if(
            bounds.missing > 0,
            format('; pairs missing: {}, with them it is at worst {}', bounds.missing, in_words(bounds.min_delta_low))
                || if(
                    status = 'indeterminate',
                    range_remedy(policy_gates.metric, bounds.min_delta_low, bounds.min_delta_low),
                    ''
                ),
            ''
        )
    end as message,
    bounds.min_delta as value,
    policy_gates.threshold,
from policy_gates
inner join judged_scopes using (campaign_id, gate_ix)
inner join bounds
    on policy_gates.campaign_id = bounds.campaign_id
    and policy_gates.metric = bounds.metric
    and judged_scopes.scope = bounds.scope
where policy_gates.kind = 'worst_delta'
