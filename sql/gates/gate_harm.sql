-- Gate kind harm: is the candidate shown to be worse than the baseline by more than the threshold?
-- Grain: one row for each candidate, gate of this kind and scope.
-- What a stratum too small for noninferiority can honestly hold. Hypothesis: the mean oriented delta is at least minus
-- the threshold (0 unless given). It fails where that is refuted at the one-sided level alpha; otherwise it passes and
-- says that no harm is shown, which is not that there is none. Too few units show none either. Indeterminate where
-- what is missing could hide harm, and without any evidence.
-- needs: metric
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
    where policy_gates.kind = 'harm'
),

weighed as (
    select
        *,
        missing = 0 or coalesce(p_above <= 0.5, false) as is_all_told,
        has_evidence and (p_below is not null or is_too_few) as is_tried,
    from inferred
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        case
            when p_below <= alpha then 'fail'
            when is_tried and is_all_told then 'pass'
            else 'indeterminate'
        end as status,
        inference_message('mean oriented delta', weighed) || case
            when not is_tried or coalesce(p_below <= alpha, false) then ''
            when is_all_told then '; no harm shown'
            else '; what is missing could hide harm'
        end as message,
        estimate as value,
        line as threshold,
    from weighed
)

select * from judged
