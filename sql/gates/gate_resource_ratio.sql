-- Gate kind resource_ratio: does the candidate use at most so many times what the baseline uses of a resource?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `of`, duration_s, cost_usd, input_tokens, output_tokens or tokens. Failed cells count. Hypothesis: the mean use
-- of the candidate is at least the threshold times the baseline's. It is judged on the paired differences, threshold times
-- baseline less candidate (as by Fieller 1954), whose mean is above 0 while the ratio is below the threshold. It passes
-- where the hypothesis is refuted at the one-sided level alpha, and fails where the opposite is. One pair of which the use
-- is unknown leaves it indeterminate: unknown is not zero.
-- needs: threshold, of
-- takes: of, alpha, min_cases, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Ratio of the mean use over the pairs known; NULL where unknown.
--   threshold: Largest ratio.
with inferred as (
    select
        inferences.*,
        inference_gates.resource,
    from inferences
    inner join inference_gates using (campaign_id, gate_ix)
    where inference_gates.kind = 'resource_ratio'
),

used as (
    select
        cells.campaign_id,
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        cells.repeat,
        resource_of(cells, inference_gates.resource) as amount,
        inference_gates.gate_ix,
    from cells
    inner join inference_gates using (campaign_id)
    where inference_gates.kind = 'resource_ratio' and inference_gates.problem is null
),

ratios as (
    select
        candidate_used.campaign_id,
        candidate_used.candidate_id,
        candidate_used.gate_ix,
        scope_cases.scope,
        favg(candidate_used.amount) / nullif(favg(baseline_used.amount), 0) as ratio,
    from used as candidate_used
    inner join used as baseline_used using (campaign_id, gate_ix, case_id, repeat)
    inner join scope_cases using (campaign_id, case_id)
    where candidate_used.arm = 'candidate' and baseline_used.arm = 'baseline'
        and candidate_used.amount is not null and baseline_used.amount is not null
    group by candidate_used.campaign_id, candidate_used.candidate_id, candidate_used.gate_ix, scope_cases.scope
),

judged as (
    select
        inferred.campaign_id,
        inferred.candidate_id,
        inferred.gate_ix,
        inferred.scope,
        case
            when inferred.p_above <= inferred.alpha then 'pass'
            when inferred.p_below <= inferred.alpha then 'fail'
            else 'indeterminate'
        end as status,
        case
            when not inferred.has_evidence then inferred.problem
            else format(
                '{} of the candidate is {} times the baseline''s, less than {} asked',
                inferred.resource, in_words(ratios.ratio), in_words(inferred.threshold)
            ) || coalesce(
                '; ' || inferred.problem,
                format('; p-value {}, of the opposite {}', in_words(inferred.p_above), in_words(inferred.p_below))
            )
        end as message,
        ratios.ratio as value,
        inferred.threshold,
    from inferred
    left join ratios using (campaign_id, candidate_id, gate_ix, scope)
)

select * from judged
