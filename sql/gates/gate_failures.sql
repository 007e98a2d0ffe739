-- Gate kind failures: did the candidate fail more often than is allowed?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `max`, the domain failures allowed (0 unless given or `excess` is); `excess`, how many more than the
-- baseline's are allowed; `codes`, the failure codes that count (all unless given); `arms`, candidate (unless given) or
-- both: whether domain failures of the baseline leave the verdict open; `infrastructure`, indeterminate (unless given)
-- or count: whether infrastructure failures and cancelled cells leave the verdict open, or count as the failures of
-- their arm.
-- takes: max, excess, codes, arms, infrastructure, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Failures of the candidate that count.
--   threshold: Failures allowed.
with asked as (
    select
        campaign_id,
        gate_ix,
        case
            when json_extract_string(options, '$.max') is not null then option_number(options, '$.max')
            when json_extract_string(options, '$.excess') is null then 0
        end as most,
        option_number(options, '$.excess') as excess,
        from_json(json_extract(options, '$.codes'), '["VARCHAR"]') as codes,
        json_extract_string(options, '$.max') is null
        or coalesce(option_number(options, '$.max') >= 0 and option_number(options, '$.max') % 1 = 0
            and option_number(options, '$.max') < 1e15, false)
            as is_max_understood,
        json_extract_string(options, '$.excess') is null
        or coalesce(option_number(options, '$.excess') >= 0 and option_number(options, '$.excess') % 1 = 0
            and option_number(options, '$.excess') < 1e15, false)
            as is_excess_understood,
        coalesce(json_type(options, '$.codes'), 'NULL') in ('NULL', 'ARRAY') as is_codes_understood,
        coalesce(json_extract_string(options, '$.arms'), 'candidate') as arms,
        coalesce(json_extract_string(options, '$.infrastructure'), 'indeterminate') as infrastructure,
    from policy_gates
    where kind = 'failures'
),

understood as (
    select
        asked.*,
        judged_scopes.scope,
        is_max_understood and is_excess_understood and is_codes_understood
        and arms in ('candidate', 'both')
        and infrastructure in ('indeterminate', 'count') as is_understood,
    from asked
    inner join judged_scopes using (campaign_id, gate_ix)
),

failed_cells as (
    select
        campaign_id,
        candidate_id,
        case_id,
        status,
        failure_code,
    from cells
    where status <> 'success'
),

counted as (
    select
        understood.campaign_id,
        understood.gate_ix,
        understood.scope,
        failed_cells.candidate_id,
        count(*) filter (
            where failed_cells.status = 'domain_failure'
            and (understood.codes is null or list_contains(understood.codes, failed_cells.failure_code))
        ) as domain,
        count(*) filter (where failed_cells.status <> 'domain_failure') as infrastructure,
    from understood
    inner join scope_cases using (campaign_id, scope)
    inner join failed_cells using (campaign_id, case_id)
    group by understood.campaign_id, understood.gate_ix, understood.scope, failed_cells.candidate_id
),

scope_sizes as (
    select campaign_id, scope, count(*) as cases
    from scope_cases
    group by campaign_id, scope
),

compared as (
    select
        asked.campaign_id,
        integrity.candidate_id,
        asked.gate_ix,
        asked.scope,
        asked.most,
        asked.excess,
        asked.arms,
        asked.is_understood,
        integrity.is_comparable,
        coalesce(scope_sizes.cases, 0) as cases,
        coalesce(counted.domain, 0)
        + if(asked.infrastructure = 'count', coalesce(counted.infrastructure, 0), 0) as failed,
        coalesce(baseline_counted.domain, 0)
        + if(asked.infrastructure = 'count', coalesce(baseline_counted.infrastructure, 0), 0) as baseline_failed,
        if(
            asked.infrastructure = 'count',
            0,
            coalesce(counted.infrastructure, 0) + coalesce(baseline_counted.infrastructure, 0)
        ) as unknown,
    from understood as asked
    inner join declarations using (campaign_id)
    inner join integrity
        on asked.campaign_id = integrity.campaign_id and integrity.candidate_id <> declarations.baseline_id
    left join scope_sizes on asked.campaign_id = scope_sizes.campaign_id and asked.scope = scope_sizes.scope
    left join counted
        on asked.campaign_id = counted.campaign_id
        and asked.gate_ix = counted.gate_ix
        and asked.scope = counted.scope
        and integrity.candidate_id = counted.candidate_id
    left join counted as baseline_counted
        on asked.campaign_id = baseline_counted.campaign_id
        and asked.gate_ix = baseline_counted.gate_ix
        and asked.scope = baseline_counted.scope
        and declarations.baseline_id = baseline_counted.candidate_id
),

limited as (
    select
        *,
        least(coalesce(most, baseline_failed + excess), coalesce(baseline_failed + excess, most)) as allowed,
    from compared
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        case
            when not is_comparable or not is_understood or cases = 0 then 'indeterminate'
            when failed > most then 'fail'
            when unknown > 0 then 'indeterminate'
            when failed > allowed then 'fail'
            when arms = 'both' and baseline_failed > 0 then 'indeterminate'
            else 'pass'
        end as status,
        case
            when not is_comparable then not_whole_message()
            when not is_understood
                then 'an option is not understood: max and excess are whole numbers, codes a list, arms is candidate '
                    || 'or both, infrastructure is indeterminate or count'
            when cases = 0 then no_case_message()
            else format('failures of the candidate: {}, {} allowed', failed, try_cast(allowed as bigint))
                || if(excess is null, '', format(' (the baseline has {})', baseline_failed))
                || if(
                    unknown > 0,
                    format('; cells of either arm that broke down: {}, which says nothing about quality', unknown),
                    ''
                )
                || if(
                    arms = 'both' and baseline_failed > 0,
                    format('; failures of the baseline: {}, which says nothing against the candidate', baseline_failed),
                    ''
                )
        end as message,
        failed::double as value,
        allowed::double as threshold,
    from limited
)

select * from judged
