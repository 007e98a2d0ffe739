-- Gate kind binary_superiority: does the candidate succeed on more cases than the baseline, by more than the threshold?
-- Grain: one row for each candidate, gate of this kind and scope.
-- For a binary metric tried once a case. Hypothesis: the difference of the paired proportions is at most the threshold
-- (0 unless given). It passes where Tango's score test and, for a threshold that is not below 0, McNemar's exact test
-- both refute that at the one-sided level alpha, and fails where they refute the opposite. Cases that share a cluster
-- leave it indeterminate.
-- needs: metric
-- takes: alpha, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean oriented delta over what was found; NULL where unknown.
--   threshold: What it must exceed.
with inferred as (
    select inferences.*
    from inferences
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.kind = 'binary_superiority'
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        if(method = 'score', verdict_of(p_above, p_below, alpha), 'indeterminate') as status,
        inference_message('mean oriented delta', inferred) || format('; more than {} asked', in_words(threshold)) || if(
            method <> 'score', '; cases share clusters: use superiority', ''
        ) as message,
        estimate as value,
        threshold,
    from inferred
)

select * from judged
