-- Inference gates: what each gate that infers a mean from a sample asks, its options understood.
-- Grain: one row for each gate of such a kind.
-- Options: `alpha`, the one-sided error rate (.025 unless given); `method`, by_kind (unless given) or bounded;
-- `min_cases`, the fewest units on which Student's t may decide (20 unless given, 2 of harm); `k` of reliability; `of`
-- of resource_ratio; `looks` and `spending` of sequential.
-- columns:
--   campaign_id: Campaign.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   kind: Gate kind.
--   metric: Metric; NULL where the gate judges a resource.
--   quantity: What is averaged over cases, as in `quantities`.
--   source: delta, pass_k or ratio.
--   resource: Column of `cells` that a ratio is of; NULL for others.
--   k: Tries that must succeed in a row; NULL for others than reliability.
--   threshold: Line of the gate as declared; 0 unless given.
--   lines: Values that the mean is compared with.
--   alpha: One-sided error rate.
--   method_asked: by_kind or bounded.
--   is_permuted: Whether the p-values of a family come from a recorded permutation test.
--   cases: Cases that the campaign declared.
--   looks: Cases tried by each look of a sequential gate, rising; NULL for others, and where they are not whole
--     numbers.
--   spending: obrien_fleming, even or e_process, of a sequential gate; NULL for others.
--   min_cases: Fewest units on which Student's t may decide.
--   problem: Why the gate cannot be judged as declared; NULL where it can.
with asked as (
    select
        policy_gates.campaign_id,
        policy_gates.gate_ix,
        policy_gates.kind,
        policy_gates.metric,
        judged_metrics.kind as metric_kind,
        judged_metrics.lower is not null and judged_metrics.upper is not null as has_range,
        declarations.repeats,
        declarations.infers_to,
        case policy_gates.kind
            when 'reliability' then 'pass_k'
            when 'resource_ratio' then 'ratio'
            else 'delta'
        end as source,
        json_extract_string(policy_gates.options, '$.of') as resource,
        option_number(policy_gates.options, '$.k') as k,
        declarations.cases,
        coalesce(json_type(policy_gates.options, '$.looks'), 'NULL') <> 'NULL' as has_looks,
        if(
            list_bool_and(
                list_transform(
                    json_extract(policy_gates.options, '$.looks[*]'),
                    lambda each: json_type(each) in ('BIGINT', 'UBIGINT')
                )
            ),
            try_cast(json_extract(policy_gates.options, '$.looks') as bigint[]),
            null
        ) as looks_named,
        if(
            policy_gates.kind = 'sequential',
            coalesce(json_extract_string(policy_gates.options, '$.spending'), 'obrien_fleming'),
            null
        ) as spending,
        coalesce(policy_gates.threshold, 0) as threshold,
        if(
            json_extract_string(policy_gates.options, '$.alpha') is null,
            0.025e0,
            option_number(policy_gates.options, '$.alpha')
        ) as alpha,
        coalesce(json_extract_string(policy_gates.options, '$.method'), 'by_kind') as method_named,
        if(
            json_extract_string(policy_gates.options, '$.min_cases') is null,
            if(policy_gates.kind = 'harm', 2, 20),
            option_number(policy_gates.options, '$.min_cases')
        ) as min_cases,
    from policy_gates
    inner join declarations using (campaign_id)
    left join judged_metrics using (campaign_id, metric)
    where policy_gates.kind in (
        'superiority', 'noninferiority', 'equivalence', 'harm', 'family', 'binary_superiority', 'binary_noninferiority',
        'reliability', 'resource_ratio', 'sequential'
    )
),

understood as (
    select
        *,
        if(method_named = 'bounded', 'bounded', 'by_kind') as method_asked,
        case
            when kind = 'sequential' and has_looks then looks_named
            when kind = 'sequential' and spending = 'e_process'
                then list_sort(list_distinct(list_transform(range(1, 11), lambda tenth: (cases * tenth + 9) // 10)))
        end as looks,
        kind = 'family' and method_named = 'max_t' as is_permuted,
        case source
            when 'pass_k' then format('pass^{} of {}', try_cast(k as bigint), metric)
            when 'ratio' then format('{} times baseline less candidate in {}', threshold, resource)
            else format('delta of {}', metric)
        end as quantity,
        case
            when source = 'ratio' then [0e0]
            when kind = 'equivalence' then [-threshold, threshold]
            when kind in ('noninferiority', 'binary_noninferiority', 'harm') then [-threshold]
            else [threshold]
        end as lines,
        case
            when not coalesce(alpha > 0 and alpha < 0.5, false) then 'alpha is a number above 0 and below 0.5'
            when not coalesce(min_cases >= 2 and min_cases < 1e15, false) then 'min_cases is a number of at least 2'
            when source <> 'ratio' and metric_kind is null then 'the metric is not one of the campaign''s'
            when kind in ('noninferiority', 'binary_noninferiority', 'equivalence') and not threshold > 0
                then 'a margin is above 0'
            when kind in ('superiority', 'binary_superiority', 'sequential') and threshold < 0
                then 'the gain asked is not below 0; for a loss that is tolerated use noninferiority'
            when kind = 'harm' and threshold < 0 then 'the loss tolerated is not below 0'
            when source = 'ratio' and not threshold > 0 then 'the largest ratio is above 0'
            when source = 'ratio'
                and not coalesce(
                    resource in ('duration_s', 'cost_usd', 'input_tokens', 'output_tokens', 'tokens'), false
                )
                then 'of is duration_s, cost_usd, input_tokens, output_tokens or tokens'
            when source = 'pass_k' and not threshold between 0 and 1 then 'a reliability lies between 0 and 1'
            when source = 'pass_k' and metric_kind <> 'binary' then 'the metric is not binary'
            when source = 'pass_k' and not coalesce(k >= 1 and k % 1 = 0, false)
                then 'k is a whole number of at least 1'
            when source = 'pass_k' and k > repeats
                then format('{:.6g} tries in a row cannot be told from {} repeats', k, repeats)
            when kind = 'family' and method_named not in ('by_kind', 'holm', 'max_t', 'bounded')
                then 'method is holm, max_t or bounded'
            when kind <> 'family' and method_named not in ('by_kind', 'bounded') then 'method is by_kind or bounded'
            when method_named = 'bounded' and (source = 'ratio' or (source = 'delta' and not has_range))
                then 'a bounded method needs a metric with both ends of its range declared'
            when starts_with(kind, 'binary_') and (metric_kind <> 'binary' or repeats > 1)
                then 'it takes a binary metric and one repeat; over several repeats use the gate without binary_'
            when kind = 'sequential' and spending not in ('obrien_fleming', 'even', 'e_process')
                then 'spending is obrien_fleming, even or e_process'
            when kind = 'sequential' and not coalesce(
                len(looks) > 0 and looks[1] >= 1 and looks[-1] <= cases and looks = list_sort(list_distinct(looks)), false
            )
                then format('looks are rising numbers of cases, of at most the {} declared', cases)
            when spending = 'e_process' and not has_range
                then 'an e-process needs a metric with both ends of its range declared'
            when infers_to not in ('these_cases', 'cases_like_these')
                then 'the policy infers to these_cases or to cases_like_these'
            when infers_to = 'these_cases' and method_named in ('bounded', 'max_t')
                then 'its method infers to cases like these, but the policy to these cases'
            when infers_to = 'these_cases' and (source <> 'delta' or kind = 'sequential' or starts_with(kind, 'binary_'))
                then 'it infers to cases like these, but the policy to these cases'
            when infers_to = 'these_cases' and repeats < 2
                then 'one repeat cannot show whether the runner is deterministic; declare two, or infer to cases like '
                    || 'these'
        end as problem,
    from asked
)

select
    campaign_id,
    gate_ix,
    kind,
    metric,
    quantity,
    source,
    resource,
    k,
    threshold,
    lines,
    alpha,
    method_asked,
    is_permuted,
    cases,
    looks,
    spending,
    min_cases,
    problem,
from understood
