-- Gate kind mean_delta: is the mean oriented delta of a metric at least the threshold?
-- Grain: one row for each candidate, gate of this kind and scope.
-- A point gate: it compares the estimate and guarantees nothing about error. With gaps it passes only if the worst fill
-- of the missing values would pass, and fails only if the best fill would fail. The comparison has no slack.
-- needs: metric, threshold
-- takes: within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean oriented delta over the pairs found; NULL where unknown.
--   threshold: What it must at least be.
select
    policy_gates.campaign_id,
    bounds.candidate_id,
    policy_gates.gate_ix,
    judged_scopes.scope,
    case
        when bounds.mean_delta_low >= policy_gates.threshold then 'pass'
        when bounds.mean_delta_high < policy_gates.threshold then 'fail'
        else 'indeterminate'
    end as status,
    case
        when not bounds.is_whole then not_whole_message()
        when bounds.cases = 0 then no_case_message()
        else format(
            'mean oriented delta of {} is {}, at least {} asked',
            policy_gates.metric, in_words(bounds.mean_delta), in_words(policy_gates.threshold)
        ) || if(
            bounds.missing > 0,
            format(
                '; pairs missing: {}, with them it lies between {} and {}',
                bounds.missing, in_words(bounds.mean_delta_low), in_words(bounds.mean_delta_high)
            ) || if(
                status = 'indeterminate',
                range_remedy(policy_gates.metric, bounds.mean_delta_low, bounds.mean_delta_high),
                ''
            ),
            ''
        )
    end as message,
    bounds.mean_delta as value,
    policy_gates.threshold,
from policy_gates
inner join judged_scopes using (campaign_id, gate_ix)
inner join bounds
    on policy_gates.campaign_id = bounds.campaign_id
    and policy_gates.metric = bounds.metric
    and judged_scopes.scope = bounds.scope
where policy_gates.kind = 'mean_delta'
