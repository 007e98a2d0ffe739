-- Gate results: how each candidate stands at each gate of the policy, in the order in which the gates decide.
-- Grain: one row for each declared candidate and gate of its campaign's policy.
-- A gate that yields no verdict, or more than one, is indeterminate, never skipped: its kind is unknown here, or its
-- metric is not one of the campaign's.
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
with verdicts as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        count(*) as verdicts,
        min(status) as status,
        min(message) as message,
        min(value) as value,
        min(threshold) as threshold,
    from gate_verdicts
    group by campaign_id, candidate_id, gate_ix
),

joined as (
    select
        policy_gates.campaign_id,
        declared_candidates.candidate_id,
        policy_gates.gate_ix,
        policy_gates.name,
        policy_gates.kind,
        policy_gates.metric,
        verdicts.verdicts = 1 and verdicts.status in ('pass', 'fail', 'indeterminate') as is_valid,
        verdicts.status,
        verdicts.message,
        verdicts.value,
        verdicts.threshold,
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
            else format('gate kind {} gave more than one verdict, or none of the three', kind)
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
