-- Gate kind reliability: does the candidate succeed k times in a row on enough cases?
-- Grain: one row for each candidate, gate of this kind and scope.
-- For a binary metric. Of each case pass^k, the chance that k tries all succeed, is estimated without bias from its
-- repeats.
-- Hypothesis: its mean over cases is at most the threshold. It passes where that is refuted at the one-sided level
-- alpha, and fails where the opposite is. A case tried fewer than k times leaves it indeterminate unless its worst
-- would pass.
-- needs: metric, threshold, k
-- takes: k, alpha, method, min_cases, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean of pass^k over cases; NULL where unknown.
--   threshold: What it must exceed.
with inferred as (
    select inferences.*
    from inferences
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.kind = 'reliability'
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        verdict_of(p_above, p_below, alpha) as status,
        inference_message('mean chance to succeed each time', inferred) || format('; more than {} asked', in_words(threshold)) as message,
        estimate as value,
        threshold,
    from inferred
)

select * from judged
