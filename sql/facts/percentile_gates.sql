-- Percentile gates: what each gate of the kind percentile asks, its options understood.
-- Grain: one row for each gate of this kind.
-- columns:
--   campaign_id: Campaign.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   metric: Metric whose values are ranked; NULL where a resource is.
--   resource: duration_s, cost_usd, input_tokens, output_tokens or tokens; NULL where a metric is ranked.
--   q: Which quantile; .95 unless given.
--   at_most: Largest quantile that passes; NULL where there is no such bound.
--   ratio_at_most: Largest ratio of the candidate's quantile to the baseline's; NULL where there is no such bound.
--   alpha: Error rate at each end of the interval; .025 unless given.
--   problem: Why the gate cannot be judged as declared; NULL where it can.
with asked as (
    select
        policy_gates.campaign_id,
        policy_gates.gate_ix,
        policy_gates.metric,
        json_extract_string(policy_gates.options, '$.of') as resource,
        if(
            json_extract_string(policy_gates.options, '$.q') is null, 0.95e0, option_number(policy_gates.options, '$.q')
        ) as q,
        json_extract_string(policy_gates.options, '$.at_most') is not null as has_bound,
        option_number(policy_gates.options, '$.at_most') as at_most,
        json_extract_string(policy_gates.options, '$.ratio_at_most') is not null as has_ratio,
        option_number(policy_gates.options, '$.ratio_at_most') as ratio_at_most,
        if(
            json_extract_string(policy_gates.options, '$.alpha') is null,
            0.025e0,
            option_number(policy_gates.options, '$.alpha')
        ) as alpha,
        metrics.metric is not null as is_declared,
    from policy_gates
    left join (select distinct campaign_id, metric from metrics) as metrics using (campaign_id, metric)
    where policy_gates.kind = 'percentile'
),

understood as (
    select
        campaign_id,
        gate_ix,
        metric,
        resource,
        q,
        at_most,
        ratio_at_most,
        alpha,
        case
            when (metric is null) = (resource is null) then 'it is of a metric or of a resource'
            when metric is not null and not is_declared then 'the metric is not one of the campaign''s'
            when resource not in ('duration_s', 'cost_usd', 'input_tokens', 'output_tokens', 'tokens')
                then 'of is duration_s, cost_usd, input_tokens, output_tokens or tokens'
            when not coalesce(q > 0 and q < 1, false) then 'q is a number above 0 and below 1'
            when not coalesce(alpha >= 0.001 and alpha < 0.5, false) then 'alpha is a number from .001 up to below .5'
            when not has_bound and not has_ratio then 'at_most or ratio_at_most is given'
            when has_bound and at_most is null then 'at_most is a finite number'
            when has_ratio and not coalesce(ratio_at_most > 0, false) then 'ratio_at_most is a finite number above 0'
        end as problem,
    from asked
)

select * from understood
