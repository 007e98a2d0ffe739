-- Gate kind percentile: is a quantile of the candidate's cells at most a bound, or at most so many times the
-- baseline's?
-- Grain: one row for each candidate and gate of this kind.
-- Options: `of`, a resource (duration_s, cost_usd, input_tokens, output_tokens or tokens) where the gate names no
-- metric; `q`, which quantile (.95 unless given); `at_most` in the unit of what is ranked; `ratio_at_most`, times the
-- baseline's quantile; `alpha`, the error rate at each end of the interval (.025 unless given). All cells count, failed
-- ones too, and one unknown value leaves the verdict open. The interval is that of a bootstrap over cases (clusters
-- where declared), which `evidence` holds; its error rate is approximate. It passes where the upper limit is at most
-- the bound, and fails where the lower limit is above it; with both bounds, both must hold.
-- needs: metric or of, at_most or ratio_at_most
-- takes: of, q, at_most, ratio_at_most, alpha
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Empty, since the quantile is over all cases.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: The quantile, or the ratio where that alone is bounded; NULL where unknown.
--   threshold: What it must be at most.
with known as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        count(*) as cells,
        count(*) - count(value) as unknown,
    from percentile_cells
    group by campaign_id, gate_ix, candidate_id
),

estimated as (
    select
        evidence.campaign_id,
        evidence.gate_ix,
        evidence.candidate_id,
        evidence.measure,
        evidence.estimate,
        evidence.low,
        evidence.high,
        evidence.reason,
    from evidence
    inner join percentile_gates using (campaign_id, gate_ix)
),

compared as (
    select
        percentile_gates.campaign_id,
        integrity.candidate_id,
        percentile_gates.gate_ix,
        percentile_gates.problem,
        percentile_gates.q,
        coalesce(percentile_gates.metric, percentile_gates.resource) as quantity,
        percentile_gates.at_most,
        percentile_gates.ratio_at_most,
        integrity.is_comparable,
        known.cells,
        known.unknown,
        quantile.reason,
        quantile.estimate as quantile,
        quantile.low as quantile_low,
        quantile.high as quantile_high,
        ratio.estimate as ratio,
        ratio.low as ratio_low,
        ratio.high as ratio_high,
        ratio.reason as ratio_reason,
    from percentile_gates
    inner join declarations using (campaign_id)
    inner join integrity
        on percentile_gates.campaign_id = integrity.campaign_id and declarations.baseline_id <> integrity.candidate_id
    left join known
        on percentile_gates.campaign_id = known.campaign_id
        and percentile_gates.gate_ix = known.gate_ix
        and integrity.candidate_id = known.candidate_id
    left join estimated as quantile
        on percentile_gates.campaign_id = quantile.campaign_id
        and percentile_gates.gate_ix = quantile.gate_ix
        and integrity.candidate_id = quantile.candidate_id
        and quantile.measure = 'quantile'
    left join estimated as ratio
        on percentile_gates.campaign_id = ratio.campaign_id
        and percentile_gates.gate_ix = ratio.gate_ix
        and integrity.candidate_id = ratio.candidate_id
        and ratio.measure = 'ratio'
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        '' as scope,
        case
            when problem is not null or not is_comparable or coalesce(unknown, 1) > 0 then 'indeterminate'
            when quantile_low > at_most or ratio_low > ratio_at_most then 'fail'
            when (at_most is null or coalesce(quantile_high <= at_most, false))
                and (ratio_at_most is null or coalesce(ratio_high <= ratio_at_most, false))
                then 'pass'
            else 'indeterminate'
        end as status,
        case
            when problem is not null then 'an option is not understood: ' || problem
            when not is_comparable then not_whole_message()
            when coalesce(unknown, 1) > 0 then format(
                'the {:.6g} quantile of {} is not known: cells without a value: {} of {}',
                q, quantity, coalesce(unknown, 0), coalesce(cells, 0)
            )
            else concat_ws(
                '; ',
                if(at_most is null, null, format(
                    'the {:.6g} quantile of {} is {}, between {} and {}, at most {} asked',
                    q, quantity, in_words(quantile), in_words(quantile_low), in_words(quantile_high), in_words(at_most)
                )),
                if(ratio_at_most is null, null, format(
                    'the {:.6g} quantile of {} is {} times the baseline''s, between {} and {}, at most {} asked',
                    q, quantity, in_words(ratio), in_words(ratio_low), in_words(ratio_high), in_words(ratio_at_most)
                )),
                if(at_most is null, null, reason),
                if(ratio_at_most is null, null, ratio_reason),
                if(reason is null and ratio_reason is null and coalesce(quantile_high, ratio_high) is null,
                    'the bootstrap is not recorded yet', null)
            )
        end as message,
        if(at_most is not null, quantile, ratio) as value,
        coalesce(at_most, ratio_at_most) as threshold,
    from compared
)

select * from judged
