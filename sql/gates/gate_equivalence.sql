-- Gate kind equivalence: is the candidate neither better nor worse than the baseline by the margin or more?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Two one-sided tests at the level alpha: it passes where the mean oriented delta is shown to lie above minus the
-- margin (the threshold) and below it, fails where it is shown to lie outside, and is otherwise indeterminate.
-- needs: metric, threshold
-- takes: alpha, method, min_cases, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean oriented delta over what was found; NULL where unknown.
--   threshold: Margin.
with inferred as (
    select inferences.*
    from inferences
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.kind = 'equivalence'
),

sides as (
    select
        lower_side.campaign_id,
        lower_side.candidate_id,
        lower_side.gate_ix,
        lower_side.scope,
        lower_side as inference,
        lower_side.alpha,
        lower_side.estimate,
        lower_side.threshold,
        lower_side.p_above as p_above_lower,
        lower_side.p_below as p_below_lower,
        upper_side.p_above as p_above_upper,
        upper_side.p_below as p_below_upper,
    from inferred as lower_side
    inner join inferred as upper_side using (campaign_id, candidate_id, gate_ix, scope)
    where lower_side.line = -lower_side.threshold and upper_side.line = upper_side.threshold
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        case
            when p_above_lower <= alpha and p_below_upper <= alpha then 'pass'
            when p_below_lower <= alpha or p_above_upper <= alpha then 'fail'
            else 'indeterminate'
        end as status,
        inference_message('mean oriented delta', inference)
        || format('; within {} of 0 asked', in_words(threshold)) as message,
        estimate as value,
        threshold,
    from sides
)

select * from judged
