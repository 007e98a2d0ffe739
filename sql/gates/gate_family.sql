-- Gate kind family: is the candidate better than the line, when all declared candidates are tested?
-- Grain: one row for each candidate, gate of this kind and scope.
-- The line is the threshold (0 unless given; below 0 for the noninferiority of all). Each declared candidate is one
-- hypothesis, those that earlier gates stopped included, and one without a p-value counts as 1: what looks best of many
-- is then wrong in at most alpha of all campaigns, not of all candidates. Option `method`: holm (unless given) adjusts
-- the p-values of Student's t, or of the method that fits the metric's kind, by Holm (1979); max_t takes those that
-- `evidence.recorded` holds, of a permutation test that shares its sign flips among candidates; bounded is holm over
-- the p-values of bets within the range. Where the gate is restricted to the groups of a key, a candidate's p-value is
-- the largest of its groups. It passes where the adjusted p-value is at most alpha, and fails where the candidate alone
-- is shown to be below the line.
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
--   threshold: Line that it must exceed.
with inferred as (
    select inferences.*
    from inferences
    inner join policy_gates using (campaign_id, gate_ix)
    where policy_gates.kind = 'family'
),

permuted as (
    select
        evidence.campaign_id,
        evidence.gate_ix,
        evidence.candidate_id,
        evidence.p_value,
        evidence.reason,
    from evidence
    inner join inference_gates using (campaign_id, gate_ix)
    semi join permuted_units
        on evidence.campaign_id = permuted_units.campaign_id and evidence.gate_ix = permuted_units.gate_ix
    where inference_gates.is_permuted
),

hypotheses as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        if(count(p_above) = count(*), max(p_above), 1) as p_value,
    from inferred
    group by campaign_id, gate_ix, candidate_id
),

ranked as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        p_value,
        count(*) over (partition by campaign_id, gate_ix) as hypotheses,
        row_number() over (partition by campaign_id, gate_ix order by p_value, candidate_id) as rank,
    from hypotheses
),

adjusted as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        hypotheses,
        least(
            1,
            max(p_value * (hypotheses - rank + 1)) over (
                partition by campaign_id, gate_ix
                order by rank
                rows between unbounded preceding and current row
            )
        ) as p_value,
    from ranked
),

compared as (
    select
        inferred.campaign_id,
        inferred.candidate_id,
        inferred.gate_ix,
        inferred.scope,
        inferred as inference,
        inferred.alpha,
        inferred.p_below,
        inferred.problem,
        inferred.estimate,
        inferred.threshold,
        adjusted.hypotheses,
        inference_gates.is_permuted,
        case
            when inferred.problem is not null then null
            when inference_gates.is_permuted then permuted.p_value
            else adjusted.p_value
        end as p_value,
        permuted.reason,
    from inferred
    inner join inference_gates using (campaign_id, gate_ix)
    inner join adjusted using (campaign_id, gate_ix, candidate_id)
    left join permuted using (campaign_id, gate_ix, candidate_id)
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        verdict_of(p_value, p_below, alpha) as status,
        inference_message('mean oriented delta', inference) || case
            when problem is not null then ''
            when is_permuted and p_value is null
                then '; ' || coalesce(reason, 'the permutation test is not recorded yet')
            else format(
                '; p-value {} among {} candidates, {:.6g} asked', in_words(p_value), hypotheses, alpha
            )
        end as message,
        estimate as value,
        threshold,
    from compared
)

select * from judged
