-- Gate kind noninferiority: is the candidate worse than the baseline by less than the margin?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Hypothesis: the mean oriented delta is at most minus the margin (the threshold). It passes where that is refuted at
-- the one-sided level alpha, and fails where the opposite is. Otherwise, and where the evidence allows no inference, it
-- is indeterminate.
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
--   threshold: What it must exceed: minus the largest loss that is tolerated.
with inferred as (
    select inferences.*
    from inferences
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.kind = 'noninferiority'
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        verdict_of(p_above, p_below, alpha) as status,
        inference_message('mean oriented delta', inferred) || format('; more than {} asked', in_words(line)) as message,
        estimate as value,
        line as threshold,
    from inferred
)

select * from judged
