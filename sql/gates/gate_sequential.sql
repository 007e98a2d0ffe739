-- Gate kind sequential: is the candidate better than the baseline by more than the threshold, looked at as the cases
-- come?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `looks`, the numbers of cases at which it looks, rising; `spending`, how the error is spread over them, as
-- in `looks`: obrien_fleming (unless given), even or e_process. A look is at the first cases of the registered order
-- (`planned_cases`), never at those that happened to finish, and counts once each of their coordinates has a cell. The
-- first look at which the hypothesis, that the mean oriented delta is at most the threshold (0 unless given), is
-- refuted at what the look may spend makes it pass; the first at which the opposite is makes it fail. An e-process may
-- be looked at after every case: it passes where the wealth of bets within the metric's range reached 1 / alpha, and
-- fails where that of the opposite bets did so before. It needs independent cases. Otherwise, at the last look too, it
-- is indeterminate.
-- needs: metric
-- takes: looks, spending, alpha, method, min_cases
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
    select
        inferences.*,
        inference_gates.quantity,
        inference_gates.spending,
        inference_gates.looks,
    from inferences
    inner join inference_gates using (campaign_id, gate_ix)
    where inference_gates.kind = 'sequential'
),

baseline_tried as (
    select
        planned_cases.campaign_id,
        planned_cases.position,
        count(*) as repeats,
    from planned_cases
    inner join cells using (campaign_id, case_id)
    semi join inferred using (campaign_id)
    where cells.arm = 'baseline'
    group by planned_cases.campaign_id, planned_cases.position
),

tried as (
    select
        planned_cases.campaign_id,
        cells.candidate_id,
        planned_cases.position,
        count(*) = any_value(declarations.repeats)
        and any_value(baseline_tried.repeats) = any_value(declarations.repeats) as is_tried,
    from planned_cases
    inner join declarations using (campaign_id)
    inner join cells using (campaign_id, case_id)
    inner join baseline_tried using (campaign_id, position)
    semi join inferred using (campaign_id)
    where cells.arm = 'candidate'
    group by planned_cases.campaign_id, cells.candidate_id, planned_cases.position
),

progress as (
    select
        campaign_id,
        candidate_id,
        count(*) as first_cases,
    from (
        select
            campaign_id,
            candidate_id,
            position,
            row_number() over (partition by campaign_id, candidate_id order by position) as place,
        from tried
        where is_tried
    )
    where position = place
    group by campaign_id, candidate_id
),

paths as (
    select
        inferred.campaign_id,
        inferred.candidate_id,
        inferred.gate_ix,
        list(unit_values.low order by planned_cases.position) as low,
        list(-unit_values.high order by planned_cases.position) as high,
        any_value(quantities.lower) as lower,
        any_value(quantities.upper) as upper,
        any_value(inferred.line) as line,
        any_value(-ln(inferred.alpha)) as goal,
    from inferred
    inner join quantities using (campaign_id, quantity)
    inner join progress using (campaign_id, candidate_id)
    inner join unit_values using (campaign_id, candidate_id, quantity)
    inner join planned_cases
        on unit_values.campaign_id = planned_cases.campaign_id
        and unit_values.case_id = planned_cases.case_id
        and planned_cases.position <= progress.first_cases
    where inferred.spending = 'e_process' and inferred.look = 1
    group by inferred.campaign_id, inferred.candidate_id, inferred.gate_ix
),

bets as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        goal,
        betting_wealth_path(low, lower, line) as wealth,
        betting_wealth_path(high, -upper, -line) as counter_wealth,
    from paths
),

wealth as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        list_max(wealth) as wealth,
        list_max(counter_wealth) as counter_wealth,
        list_position(list_transform(wealth, lambda each: each >= goal), true) as passed_at,
        list_position(list_transform(counter_wealth, lambda each: each >= goal), true) as failed_at,
    from bets
),

sharing as (
    select campaign_id
    from scope_cases
    semi join inferred using (campaign_id)
    where scope = ''
    group by campaign_id
    having count(distinct cluster) < count(*)
),

looked as (
    select
        inferred.*,
        coalesce(progress.first_cases, 0) as progress,
        coalesce(progress.first_cases, 0) >= inferred.first_cases as is_reached,
        wealth.wealth,
        wealth.counter_wealth,
        inferred.spending = 'e_process' and sharing.campaign_id is not null as is_sharing,
        case
            when not inferred.has_evidence then 'indeterminate'
            when inferred.spending = 'e_process' and sharing.campaign_id is not null then 'indeterminate'
            when inferred.spending = 'e_process' and wealth.passed_at <= coalesce(wealth.failed_at, wealth.passed_at)
                then 'pass'
            when inferred.spending = 'e_process' and wealth.failed_at is not null then 'fail'
            when inferred.spending = 'e_process' or coalesce(progress.first_cases, 0) < inferred.first_cases
                then 'indeterminate'
            when inferred.p_above <= inferred.alpha then 'pass'
            when inferred.p_below <= inferred.alpha then 'fail'
            else 'indeterminate'
        end as look_status,
    from inferred
    left join progress using (campaign_id, candidate_id)
    left join wealth using (campaign_id, candidate_id, gate_ix)
    left join sharing using (campaign_id)
),

deciding as (
    select
        *,
        coalesce(
            min(look) filter (where look_status <> 'indeterminate' and spending <> 'e_process')
                over (partition by campaign_id, candidate_id, gate_ix),
            max(look) filter (where is_reached) over (partition by campaign_id, candidate_id, gate_ix),
            1
        ) as deciding_look,
    from looked
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        look_status as status,
        case
            when not has_evidence then problem
            when is_sharing then 'an e-process needs independent cases, and some share a cluster'
            when spending = 'e_process' then format(
                'mean oriented delta of {} cases tried: wealth {} times the stake at its best ({} asked), of the opposite {}',
                progress, in_words(if(wealth > 600, exp(600), exp(wealth))), in_words(1 / alpha), in_words(if(counter_wealth > 600, exp(600), exp(counter_wealth)))
            )
            when not is_reached
                then format('cases tried in the registered order: {}, first look at {}', progress, first_cases)
            else format('look {} of {}, at {} cases: ', look, len(looks), first_cases)
                || inference_message('mean oriented delta', deciding)
        end || format('; more than {} asked', in_words(threshold)) as message,
        estimate as value,
        threshold,
    from deciding
    where look = deciding_look
)

select * from judged
