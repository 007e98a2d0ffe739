-- Gate kind mean_delta: is the mean oriented delta of a metric at least the threshold?
-- Grain: one row for each candidate and gate of this kind.
-- A point gate: it compares the estimate and guarantees nothing about error. With gaps it passes only if the worst fill
-- of the missing values would pass, and fails only if the best fill would fail. The comparison has no slack.
-- needs: metric, threshold
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean oriented delta over the pairs found; NULL where unknown.
--   threshold: What it must at least be.
select
    policy_gates.campaign_id,
    bounds.candidate_id,
    policy_gates.gate_ix,
    case
        when bounds.mean_delta_low >= policy_gates.threshold then 'pass'
        when bounds.mean_delta_high < policy_gates.threshold then 'fail'
        else 'indeterminate'
    end as status,
    case
        when not bounds.is_whole then not_whole_message()
        else format(
            'mean oriented delta of {} is {}, at least {} asked',
            policy_gates.metric, in_words(bounds.mean_delta), in_words(policy_gates.threshold)
        ) || if(
            bounds.missing > 0,
            format(
                '; pairs missing: {}, with them it lies between {} and {}',
                bounds.missing, in_words(bounds.mean_delta_low), in_words(bounds.mean_delta_high)
            ),
            ''
        )
    end as message,
    bounds.mean_delta as value,
    policy_gates.threshold,
from policy_gates
inner join bounds using (campaign_id, metric)
where policy_gates.kind = 'mean_delta'
