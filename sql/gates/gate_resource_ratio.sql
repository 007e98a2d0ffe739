-- Gate kind resource_ratio: does the candidate use at most so many times what the baseline uses of a resource?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `of`, duration_s, cost_usd, input_tokens, output_tokens or tokens. Failed cells count. Hypothesis: the mean
-- use of the candidate is at least the threshold times the baseline's. It is judged on the paired differences,
-- threshold times baseline less candidate (as by Fieller 1954), whose mean is above 0 while the ratio is below the
-- threshold. It passes where the hypothesis is refuted at the one-sided level alpha, and fails where the opposite is.
-- One pair of which the use is unknown leaves it indeterminate: unknown is not zero.
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

ratios as (
    select
        *,
        threshold * (1 - estimate / nullif(scale, 0)) as ratio,
    from inferred
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        verdict_of(p_above, p_below, alpha) as status,
        case
            when not has_evidence then problem
            else format(
                '{} of the candidate is {} times the baseline''s, less than {} asked',
                resource, in_words(ratio), in_words(threshold)
            ) || coalesce(
                '; ' || problem,
                format('; p-value {}, of the opposite {}', in_words(p_above), in_words(p_below))
            )
        end as message,
        ratio as value,
        threshold,
    from ratios
)

select * from judged
