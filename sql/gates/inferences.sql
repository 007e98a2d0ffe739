-- Inferences: what the evidence says about the mean that a gate compares with a line.
-- Grain: one row for each declared candidate, gate of a kind that infers a mean, scope, look and line.
-- A value gate with gaps passes only under the worst fill of what is missing and fails only under the best: `p_above`
-- and `low` are those of the worst fill, `p_below` and `high` those of the best. Student's t takes the greatest spread
-- of any fill beside them, and what one value throughout would tell where a fill could make it so; the noise of repeats
-- is told only where every pair was found: otherwise a missing outlier would speak for the side that lost it.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases, as in `judged_scopes`; empty for all of them.
--   look: Look of a sequential gate, counted from 1, at the first cases of the registered order; 0 for other gates.
--   first_cases: How many cases that look is at.
--   line: What the mean is compared with.
--   alpha: One-sided error rate that the gate may spend.
--   threshold: Line of the gate as declared.
--   method: How the mean is inferred, as `mean_method` says; NULL without a case.
--   cases: Planned cases of the scope among them.
--   clusters: Independent units among them.
--   missing: Declared pairs (tries) with something missing.
--   estimate: Mean over what was found; NULL where nothing was, and where the gate cannot be judged as declared.
--   scale: Mean magnitude of what the values were computed from; NULL where nothing was found.
--   low: Lower limit of the mean at the one-sided level alpha; NULL where there is none.
--   high: Upper limit of the mean at the one-sided level alpha; NULL where there is none.
--   p_above: One-sided p-value of the mean being not above the line; NULL where unknown.
--   p_below: One-sided p-value of the mean being not below the line; NULL where unknown.
--   is_too_few: Whether there are fewer units than the gate asks for, so that no test was made.
--   has_evidence: Whether there is evidence that the gate could be judged by, however little.
--   problem: Why the evidence allows no inference; NULL where it does.
with asked as (
    select
        inference_gates.campaign_id,
        declared_candidates.candidate_id,
        inference_gates.gate_ix,
        judged_scopes.scope,
        looks.look,
        looks.cases as first_cases,
        looks.alpha,
        inference_gates.quantity,
        inference_gates.lines,
        inference_gates.threshold,
        inference_gates.method_asked,
        inference_gates.min_cases,
        inference_gates.problem,
        declarations.infers_to,
        coalesce(integrity.is_comparable, false) as is_comparable,
        quantities.lower,
        quantities.upper,
        quantities.metric,
        quantities.is_score,
    from inference_gates
    inner join declarations using (campaign_id)
    inner join judged_scopes using (campaign_id, gate_ix)
    inner join looks using (campaign_id, gate_ix)
    inner join declared_candidates using (campaign_id)
    left join quantities using (campaign_id, quantity)
    left join integrity using (campaign_id, candidate_id)
    where declared_candidates.arm = 'candidate'
),

samples as (
    select
        unit_values.campaign_id,
        unit_values.candidate_id,
        unit_values.quantity,
        scope_cases.scope,
        bounded.first_cases,
        list(unit_values.low) as low,
        list(-unit_values.high) as high,
    from unit_values
    inner join scope_cases using (campaign_id, case_id)
    inner join (
        select distinct campaign_id, quantity, scope, first_cases
        from asked
        where method_asked = 'bounded' and problem is null
    ) as bounded
        on unit_values.campaign_id = bounded.campaign_id
        and unit_values.quantity = bounded.quantity
        and scope_cases.scope = bounded.scope
    inner join planned_cases
        on unit_values.campaign_id = planned_cases.campaign_id
        and unit_values.case_id = planned_cases.case_id
        and planned_cases.position <= bounded.first_cases
    group by
        unit_values.campaign_id, unit_values.candidate_id, unit_values.quantity, scope_cases.scope, bounded.first_cases
),

summarized as (
    select
        asked.*,
        coalesce(unit_summaries.cases, 0) as cases,
        unit_summaries.clusters,
        unit_summaries.missing,
        unit_summaries.estimate,
        unit_summaries.scale,
        unit_summaries.worst,
        unit_summaries.best,
        unit_summaries.noise,
        unit_summaries.noise_df,
        asked.is_score and unit_summaries.clusters = unit_summaries.cases as is_by_score,
        samples.low as worst_sample,
        samples.high as best_sample,
    from asked
    left join unit_summaries using (campaign_id, candidate_id, quantity, scope, first_cases)
    left join samples using (campaign_id, candidate_id, quantity, scope, first_cases)
),

limited as (
    select
        *,
        mean_method(
            infers_to,
            method_asked,
            is_by_score,
            cases,
            {'least': worst.least, 'greatest': best.greatest, 'size': greatest(worst.size, best.size)}
        ) as method,
        -- Where each value is -1, 0 or 1 they add up to gains less losses, and their squares to gains and losses together;
        -- with gaps the squares are a bound only.
        coalesce(
            worst.least >= -1 and best.greatest <= 1
            and abs(cases * worst.mean - (worst.gains - worst.losses)) <= 1e-9 * cases
            and (
                missing > 0
                or abs(worst.squared_deviations + cases * worst.mean ** 2 - worst.gains - worst.losses) <= 1e-9 * cases
            ),
            true
        ) as is_binary,
        missing > 0
        and is_constant({'least': best.least, 'greatest': worst.greatest, 'size': greatest(worst.size, best.size)})
            as can_be_constant,
        t_quantile_at(
            1 - alpha, if(infers_to = 'these_cases', noise_df, clusters - 1)
        ) as t_alpha,
    from summarized
),

-- The worst fill speaks for what is above the line, and the best for what is below it: mirrored, with its sign turned,
-- it is judged by the same rule. Of the fills that give every case one value the greatest is the worst for what is above
-- the line, the least for what is below.
sided as (
    select
        *,
        [
            {
                'sign': 1, 'spread': worst, 'sample': worst_sample, 'bound': lower, 'constant': worst.greatest,
            },
            {
                'sign': -1, 'spread': best, 'sample': best_sample, 'bound': -upper, 'constant': -best.least,
            },
        ] as sides,
        method = 't'
        and can_be_constant
        and above_rounding(standard_error(worst.squared_deviations, clusters), worst) > 0 as is_doubted,
        case
            when not is_comparable then not_whole_message()
            when problem is not null then 'the gate cannot be judged as declared: ' || problem
            when cases = 0 then no_case_message()
            when (worst.mean is null and best.mean is null) or (method = 't' and (worst.mean is null or best.mean is null))
                then format('missing: {}, and nothing bounds what they could be worth', missing)
                    || range_remedy(metric, lower, upper)
            when method = 'repeats' and (noise is null or missing > 0)
                then format('missing: {}, so that the noise of repeats is unknown', missing)
            when method = 'score' and not is_binary then 'a value of the binary metric is neither 0 nor 1'
            when method = 't' and clusters < min_cases
                then format('independent units: {}, at least {} are asked by Student''s t', clusters, try_cast(min_cases as bigint))
            when (method = 'constant' or (method = 't' and can_be_constant)) and (lower is null or upper is null)
                then 'every case gave one value, which says nothing about others unless a declared range bounds them'
                    || range_remedy(metric, lower, upper)
            when method = 'bounded' and clusters < cases
                then 'a bounded method needs independent cases, and some share a cluster'
        end as obstacle,
    from limited
),

bet as (
    select
        *,
        list_transform(
            sides, lambda side: if(method_asked = 'bounded', betting_low(side.sample, side.bound, alpha), null)
        ) as bounded_lows,
    from sided
),

lined as (
    select
        *,
        unnest(lines) as line,
    from bet
),

weighed as (
    select
        *,
        list_transform(
            sides,
            lambda side: evidence_of(
                method, side.spread, clusters, clusters, noise, noise_df, lower,
                case
                    when method = 'bounded' and side.sign * line = side.bound
                        then if(side.constant > side.bound, 1e300, 0)
                    when method = 'bounded' then betting_log_wealth(side.sample, side.bound, side.sign * line, cases)
                end
            )
        ) as evidence,
    from lined
),

judged as (
    select
        *,
        case
            when obstacle is null then list_transform(
                [
                    {
                        'evidence': evidence[1], 'line': line, 'bounded_low': bounded_lows[1],
                        'bound': lower, 'constant': sides[1].constant,
                    },
                    {
                        'evidence': negated(evidence[2], upper), 'line': -line, 'bounded_low': bounded_lows[2],
                        'bound': -upper, 'constant': sides[2].constant,
                    },
                ],
                lambda side: {
                    'low': least(
                        mean_low(side.evidence, alpha, t_alpha, side.bounded_low),
                        if(is_doubted, constant_low(side.constant, side.bound, clusters, alpha), null)
                    ),
                    'tail': greatest(
                        mean_tail(side.evidence, side.line),
                        if(is_doubted, constant_tail(side.constant, side.bound, clusters, side.line), null)
                    )
                }
            )
        end as found,
    from weighed
),

inferred as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        look,
        first_cases,
        line,
        alpha,
        threshold,
        method,
        cases,
        clusters,
        missing,
        if(problem is null, estimate, null) as estimate,
        scale,
        found[1].low as low,
        -found[2].low as high,
        found[1].tail as p_above,
        found[2].tail as p_below,
        coalesce(clusters < min_cases, false) as is_too_few,
        is_comparable and problem is null and cases > 0 as has_evidence,
        obstacle as problem,
    from judged
)

select * from inferred
