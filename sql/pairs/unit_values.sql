-- Unit values: what each unit says about the quantities that gates infer the means of.
-- Grain: one row for each candidate, quantity and declared case.
-- Repeats are averaged inside the case. A missing value takes the worst and the best of its range, as in `case_bounds`.
-- Where the rounds of the arms are independent (coupling none) a case is one pair, of the means of either arm there.
-- Where a case is declared for fewer tries than a pass^k asks for, those up to k are missing.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   quantity: Quantity, as in `quantities`.
--   case_id: Case.
--   missing: Declared pairs of the case (tries, of a pass^k) with something missing.
--   value: Value over what was found; NULL where that is too little.
--   low: Value if everything missing were the worst for the candidate; NULL where that has no bound.
--   high: Value if everything missing were the best for the candidate; NULL where that has no bound.
--   magnitude: Magnitude of what the value was computed from, against which rounding is measured.
--   noise: Variance of the value over repeats; NULL unless the policy infers to these very cases and repeats show it.
--   noise_df: Degrees of freedom of `noise`; NULL where it is.
with delta_units as (
    select
        case_bounds.campaign_id,
        case_bounds.candidate_id,
        quantities.quantity,
        case_bounds.case_id,
        case_bounds.missing,
        case_bounds.mean_delta as value,
        case_bounds.delta_low as low,
        case_bounds.delta_high as high,
        greatest(abs(case_bounds.candidate_low), abs(case_bounds.candidate_high), abs(case_bounds.mean_delta))
            as magnitude,
        case_noise.variance as noise,
        case_noise.df as noise_df,
    from case_bounds
    inner join quantities using (campaign_id, metric)
    left join case_noise using (campaign_id, candidate_id, metric, case_id)
    where quantities.source = 'delta'
),

tried as (
    select
        declared_repeats.campaign_id,
        declared_repeats.candidate_id,
        quantities.quantity,
        quantities.metric,
        quantities.k,
        judged_metrics.direction,
        declared_repeats.repeats,
        declared_repeats.case_id,
    from quantities
    inner join judged_metrics using (campaign_id, metric)
    inner join declared_repeats using (campaign_id)
    where quantities.source = 'pass_k' and declared_repeats.arm = 'candidate'
),

successes as (
    select
        tried.campaign_id,
        tried.candidate_id,
        tried.quantity,
        tried.case_id,
        any_value(tried.k)::bigint as k,
        greatest(any_value(tried.repeats), any_value(tried.k)::bigint) as repeats,
        count(*) filter (where observations.value in (0, 1)) as tries,
        count(*) filter (where observations.value = if(tried.direction > 0, 1, 0)) as successes,
    from tried
    left join observations
        on tried.campaign_id = observations.campaign_id
        and tried.candidate_id = observations.candidate_id
        and tried.metric = observations.metric
        and tried.case_id = observations.case_id
        and tried.repeats > observations.repeat
        and observations.arm = 'candidate'
    group by tried.campaign_id, tried.candidate_id, tried.quantity, tried.case_id
),

reliability_units as (
    select
        campaign_id,
        candidate_id,
        quantity,
        case_id,
        repeats - tries as missing,
        pass_hat(successes, tries, k) as value,
        pass_hat(successes, repeats, k) as low,
        pass_hat(successes + repeats - tries, repeats, k) as high,
        1e0 as magnitude,
        null::double as noise,
        null::bigint as noise_df,
    from successes
),

seen as (
    select
        cells.campaign_id,
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        cells.repeat,
        quantities.quantity,
        quantities.ratio,
        resource_of(cells, quantities.resource) as amount,
    from cells
    inner join quantities using (campaign_id)
    where quantities.source = 'ratio'
),

used as (
    select * replace (if(is_usable(amount) and amount >= 0, amount, null) as amount),
    from seen
),

paired_amounts as (
    select campaign_id, candidate_id, arm, case_id, repeat, quantity, amount, amount is not null as is_full
    from used
    semi join (select campaign_id from declarations where coupling is distinct from 'none') using (campaign_id)

    union all

    select
        used.campaign_id,
        used.candidate_id,
        used.arm,
        used.case_id,
        0::integer as repeat,
        used.quantity,
        favg(used.amount) as amount,
        count(used.amount) >= any_value(independent_repeats.repeats) as is_full,
    from used
    inner join independent_repeats using (campaign_id, candidate_id, arm, case_id)
    where used.repeat < independent_repeats.repeats
    group by used.campaign_id, used.candidate_id, used.arm, used.case_id, used.quantity
),

used_pairs as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        quantities.quantity,
        declared_pairs.case_id,
        baseline_used.amount as baseline_amount,
        candidate_used.amount as candidate_amount,
        quantities.ratio * baseline_used.amount - candidate_used.amount as spared,
        quantities.ratio * baseline_used.amount as allowed,
        coalesce(baseline_used.is_full and candidate_used.is_full, false) as is_full,
    from quantities
    inner join declared_pairs using (campaign_id)
    inner join declared_candidates using (campaign_id)
    left join paired_amounts as baseline_used
        on declared_pairs.campaign_id = baseline_used.campaign_id
        and declared_pairs.case_id = baseline_used.case_id
        and declared_pairs.repeat = baseline_used.repeat
        and quantities.quantity = baseline_used.quantity
        and baseline_used.arm = 'baseline'
    left join paired_amounts as candidate_used
        on declared_candidates.campaign_id = candidate_used.campaign_id
        and declared_candidates.candidate_id = candidate_used.candidate_id
        and declared_pairs.case_id = candidate_used.case_id
        and declared_pairs.repeat = candidate_used.repeat
        and quantities.quantity = candidate_used.quantity
    where quantities.source = 'ratio' and declared_candidates.arm = 'candidate'
),

ratio_units as (
    select
        campaign_id,
        candidate_id,
        quantity,
        case_id,
        count(*) filter (where not is_full) as missing,
        favg(spared) as value,
        if(bool_and(is_full), favg(spared), null) as low,
        if(bool_and(is_full), favg(spared), null) as high,
        favg(allowed) filter (where spared is not null) as magnitude,
        null::double as noise,
        null::bigint as noise_df,
    from used_pairs
    group by campaign_id, candidate_id, quantity, case_id
),

valued as (
    select * from delta_units
    union all
    select * from reliability_units
    union all
    select * from ratio_units
)

select * from valued
