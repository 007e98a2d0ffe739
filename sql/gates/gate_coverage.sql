-- Gate kind coverage: is the declared evidence there?
-- Grain: one row for each candidate, gate of this kind and scope.
-- It only counts, and never fails: what is missing says nothing against a candidate. What a pair is, and when it is
-- complete, is said in `coverage`.
-- takes: within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Complete pairs.
--   threshold: Declared pairs.
with asked as (
    select
        policy_gates.campaign_id,
        policy_gates.gate_ix,
        judged_scopes.scope,
    from policy_gates
    inner join judged_scopes using (campaign_id, gate_ix)
    where policy_gates.kind = 'coverage'
),

restricted as (
    select distinct campaign_id, scope
    from asked
    where scope <> ''
),

scope_pairs as (
    select
        restricted.campaign_id,
        restricted.scope,
        declared_pairs.case_id,
        declared_pairs.repeat,
        count(cells.case_id) > 0 and any_value(declarations.coupling) is distinct from 'none' as has_baseline,
    from restricted
    inner join scope_cases using (campaign_id, scope)
    inner join declared_pairs using (campaign_id, case_id)
    inner join declarations using (campaign_id)
    left join cells
        on declarations.campaign_id = cells.campaign_id
        and declarations.baseline_id = cells.candidate_id
        and declared_pairs.case_id = cells.case_id
        and declared_pairs.repeat = cells.repeat
        and cells.arm = 'baseline'
    group by all
),

scope_sizes as (
    select
        campaign_id,
        scope,
        count(*) as expected_pairs,
    from scope_pairs
    group by campaign_id, scope
),

scope_counts as (
    select
        scope_pairs.campaign_id,
        scope_pairs.scope,
        cells.candidate_id,
        count(distinct (cells.case_id, cells.repeat)) as complete_pairs,
    from scope_pairs
    inner join cells using (campaign_id, case_id, repeat)
    where cells.arm = 'candidate' and scope_pairs.has_baseline
    group by scope_pairs.campaign_id, scope_pairs.scope, cells.candidate_id

    union all

    select
        restricted.campaign_id,
        restricted.scope,
        own.candidate_id,
        count(*) as complete_pairs,
    from restricted
    inner join scope_cases using (campaign_id, scope)
    inner join independent_cells as own using (campaign_id, case_id)
    inner join independent_cells as base using (campaign_id, case_id)
    where own.arm = 'candidate' and base.arm = 'baseline' and own.is_covered and base.is_covered
    group by restricted.campaign_id, restricted.scope, own.candidate_id
),

counted as (
    select
        asked.campaign_id,
        coverage.candidate_id,
        asked.gate_ix,
        asked.scope,
        coverage.is_whole,
        coverage.unexpected_cells,
        coverage.duplicate_cells,
        if(asked.scope = '', coverage.complete_pairs, coalesce(scope_counts.complete_pairs, 0)) as complete_pairs,
        if(asked.scope = '', coverage.expected_pairs, coalesce(scope_sizes.expected_pairs, 0)) as expected_pairs,
    from asked
    inner join coverage using (campaign_id)
    left join scope_sizes
        on asked.campaign_id = scope_sizes.campaign_id and asked.scope = scope_sizes.scope
    left join scope_counts
        on coverage.campaign_id = scope_counts.campaign_id
        and coverage.candidate_id = scope_counts.candidate_id
        and asked.scope = scope_counts.scope
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        if(
            is_whole and expected_pairs > 0 and complete_pairs = expected_pairs
            and unexpected_cells + duplicate_cells = 0,
            'pass',
            'indeterminate'
        ) as status,
        case
            when not is_whole then not_whole_message()
            when expected_pairs = 0 then no_case_message()
            else format('complete pairs: {} of {} declared', complete_pairs, expected_pairs)
                || if(unexpected_cells > 0, format(', unexpected cells: {}', unexpected_cells), '')
                || if(duplicate_cells > 0, format(', duplicate cells: {}', duplicate_cells), '')
        end as message,
        complete_pairs::double as value,
        expected_pairs::double as threshold,
    from counted
)

select * from judged
