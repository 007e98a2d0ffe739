-- Gate kind failures: did the candidate fail more often than is allowed?
-- Grain: one row for each candidate and gate of this kind.
-- Options: `max`, the domain failures allowed (0 unless given); `arms`, candidate (unless given) or both: whether domain
-- failures of the baseline leave the verdict open; `infrastructure`, indeterminate (unless given) or count: whether
-- infrastructure failures and cancelled cells leave the verdict open, or count as the failures of their arm.
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Failures of the candidate that count.
--   threshold: Failures allowed.
with asked as (
    select
        campaign_id,
        gate_ix,
        if(json_extract_string(options, '$.max') is null, 0, option_number(options, '$.max')) as allowed,
        coalesce(json_extract_string(options, '$.arms'), 'candidate') as arms,
        coalesce(json_extract_string(options, '$.infrastructure'), 'indeterminate') as infrastructure,
    from policy_gates
    where kind = 'failures'
),

understood as (
    select
        *,
        coalesce(allowed >= 0 and allowed = floor(allowed), false)
        and arms in ('candidate', 'both')
        and infrastructure in ('indeterminate', 'count') as is_understood,
    from asked
),

counted as (
    select
        campaign_id,
        candidate_id,
        sum(cells) filter (where status = 'domain_failure')::bigint as domain,
        sum(cells) filter (where status <> 'domain_failure')::bigint as infrastructure,
    from failures
    group by campaign_id, candidate_id
),

compared as (
    select
        asked.campaign_id,
        integrity.candidate_id,
        asked.gate_ix,
        asked.allowed,
        asked.arms,
        asked.is_understood,
        integrity.is_comparable,
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
    left join counted
        on asked.campaign_id = counted.campaign_id and integrity.candidate_id = counted.candidate_id
    left join counted as baseline_counted
        on asked.campaign_id = baseline_counted.campaign_id and declarations.baseline_id = baseline_counted.candidate_id
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        case
            when not is_comparable or not is_understood then 'indeterminate'
            when failed > allowed then 'fail'
            when unknown > 0 then 'indeterminate'
            when arms = 'both' and baseline_failed > 0 then 'indeterminate'
            else 'pass'
        end as status,
        case
            when not is_comparable then not_whole_message()
            when not is_understood
                then 'an option is not understood: max is a whole number, arms is candidate or both, '
                    || 'infrastructure is indeterminate or count'
            else format('failures of the candidate: {}, {} allowed', failed, allowed::bigint)
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
        allowed as threshold,
    from compared
)

select * from judged
