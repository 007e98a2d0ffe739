-- Gate results: how each candidate stands at each gate of the policy, in the order in which the gates decide.
-- Grain: one row for each declared candidate and gate of its campaign's policy.
-- A gate that is restricted to several scopes passes where it passes in each, and fails where it fails in one. A gate
-- that yields no verdict in a scope, or more than one, is indeterminate, never skipped: its kind is unknown here, its
-- metric is not one of the campaign's, or it cannot be restricted.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   name: Name of the gate.
--   kind: Gate kind.
--   metric: Metric that the gate reads; NULL where it reads none.
--   status: pass, fail or indeterminate.
--   is_reached: Whether every earlier gate passed.
--   message: The value, the bound and the reason, in words.
--   value: What was compared; NULL where unknown.
--   threshold: What it was compared with; NULL where the gate has none.
with scopes as (
    select
        campaign_id,
        gate_ix,
        count(*) as scopes,
    from judged_scopes
    group by campaign_id, gate_ix
),

in_scopes as (
    select
        gate_verdicts.campaign_id,
        gate_verdicts.candidate_id,
        gate_verdicts.gate_ix,
        gate_verdicts.scope,
        count(*) as verdicts,
        min(gate_verdicts.status) as status,
        min(gate_verdicts.message) as message,
        min(gate_verdicts.value) as value,
        min(gate_verdicts.threshold) as threshold,
    from gate_verdicts
    inner join judged_scopes using (campaign_id, gate_ix, scope)
    group by all
),

verdicts as (
    select
        in_scopes.campaign_id,
        in_scopes.candidate_id,
        in_scopes.gate_ix,
        count(*) = any_value(scopes.scopes) and bool_and(
            in_scopes.verdicts = 1 and coalesce(in_scopes.status in ('pass', 'fail', 'indeterminate'), false)
        ) as is_valid,
        count(*) as scopes,
        arg_min(
            {
                'status': in_scopes.status,
                'scope': in_scopes.scope,
                'message': in_scopes.message,
                'value': in_scopes.value,
                'threshold': in_scopes.threshold
            },
            (list_position(['fail', 'indeterminate', 'pass'], in_scopes.status), in_scopes.scope)
        ) as deciding,
    from in_scopes
    inner join scopes using (campaign_id, gate_ix)
    group by in_scopes.campaign_id, in_scopes.candidate_id, in_scopes.gate_ix
),

joined as (
    select
        policy_gates.campaign_id,
        declared_candidates.candidate_id,
        policy_gates.gate_ix,
        policy_gates.name,
        policy_gates.kind,
        policy_gates.metric,
        verdicts.is_valid,
        verdicts.deciding.status as status,
        case
            when verdicts.deciding.scope = '' then verdicts.deciding.message
            when verdicts.scopes = 1
                then format('in {}: {}', scope_in_words(verdicts.deciding.scope), verdicts.deciding.message)
            when verdicts.deciding.status = 'pass'
                then format(
                    'in each of {} scopes; in {}: {}',
                    verdicts.scopes, scope_in_words(verdicts.deciding.scope), verdicts.deciding.message
                )
            else format(
                'in {}, which decides of {}: {}',
                scope_in_words(verdicts.deciding.scope), verdicts.scopes, verdicts.deciding.message
            )
        end as message,
        verdicts.deciding.value as value,
        verdicts.deciding.threshold as threshold,
    from policy_gates
    inner join declared_candidates using (campaign_id)
    left join verdicts using (campaign_id, candidate_id, gate_ix)
    where declared_candidates.arm = 'candidate'
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        name,
        kind,
        metric,
        if(is_valid, status, 'indeterminate') as status,
        case
            when is_valid then message
            when is_valid is null
                then format('gate kind {} gave no verdict: the kind or the metric is unknown here', kind)
            else format('gate kind {} gave not one verdict of the three in each scope', kind)
        end as message,
        if(is_valid, value, null) as value,
        if(is_valid, threshold, null) as threshold,
    from joined
),

in_order as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        name,
        kind,
        metric,
        status,
        coalesce(
            bool_and(status = 'pass') over (
                partition by campaign_id, candidate_id
                order by gate_ix
                rows between unbounded preceding and 1 preceding
            ),
            true
        ) as is_reached,
        message,
        value,
        threshold,
    from judged
)

select * from in_order
