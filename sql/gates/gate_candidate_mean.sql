-- Gate kind candidate_mean: is the candidate's own mean of a metric, in its own unit, within the bounds?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `at_least` and `at_most`. The mean is over the candidate's own declared
-- coordinates. With gaps the numerically lowest and highest fill decide; where neither settles it, nothing does.
-- needs: metric, at_least or at_most
-- takes: at_least, at_most, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Mean over all declared coordinates; NULL where a value is missing or unknown.
--   threshold: The upper bound where one is given, else the lower.
with asked as (
    select
        campaign_id,
        gate_ix,
        metric,
        option_number(options, '$.at_least') as at_least,
        option_number(options, '$.at_most') as at_most,
        (json_extract_string(options, '$.at_least') is null or option_number(options, '$.at_least') is not null)
        and (json_extract_string(options, '$.at_most') is null or option_number(options, '$.at_most') is not null)
            as is_understood,
    from policy_gates
    where kind = 'candidate_mean'
),

compared as (
    select
        asked.campaign_id,
        bounds.candidate_id,
        asked.gate_ix,
        judged_scopes.scope,
        asked.metric,
        asked.at_least,
        asked.at_most,
        asked.is_understood,
        bounds.is_whole,
        bounds.cases,
        bounds.candidate_mean_low as low,
        bounds.candidate_mean_high as high,
    from asked
    inner join judged_scopes using (campaign_id, gate_ix)
    inner join bounds
        on asked.campaign_id = bounds.campaign_id
        and asked.metric = bounds.metric
        and judged_scopes.scope = bounds.scope
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        case
            when not is_understood or (at_least is null and at_most is null) then 'indeterminate'
            when high < at_least or low > at_most then 'fail'
            when coalesce(low >= at_least, at_least is null) and coalesce(high <= at_most, at_most is null) then 'pass'
            else 'indeterminate'
        end as status,
        case
            when not is_whole then not_whole_message()
            when cases = 0 then no_case_message()
            when not is_understood then 'an option is not understood: at_least and at_most are finite numbers'
            when at_least is null and at_most is null
                then 'the gate names no bound; give it at_least or at_most'
            else format('mean {} of the candidate ', metric)
                || if(
                    low = high,
                    'is ' || in_words(low),
                    format('lies between {} and {}, since values are missing', in_words(low), in_words(high))
                )
                || if(at_least is null, '', format(', at least {} asked', in_words(at_least)))
                || if(at_most is null, '', format(', at most {} asked', in_words(at_most)))
                || if(status = 'indeterminate', range_remedy(metric, low, high), '')
        end as message,
        if(low = high, low, null) as value,
        coalesce(at_most, at_least) as threshold,
    from compared
)

select * from judged
