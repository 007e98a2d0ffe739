-- Percentile cells: the values that a percentile is taken of.
-- Grain: one row for each percentile gate without a problem and each declared coordinate, the baseline's included.
-- All cells count, failed ones too: a resource is what the cell used however it ended, and a metric is what the cell
-- measured, or what its `on_domain_failure` says a domain failure is worth.
-- columns:
--   campaign_id: Campaign.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   candidate_id: Candidate of the coordinate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case of the coordinate.
--   repeat: Repeat of the coordinate, counted from 0.
--   cluster: Unit that is resampled: the declared cluster, else the case itself.
--   value: Value in its own unit; NULL where unknown, and where the coordinate has no cell.
with grid as (
    select
        percentile_gates.campaign_id,
        percentile_gates.gate_ix,
        percentile_gates.metric,
        percentile_gates.resource,
        coordinates.candidate_id,
        coordinates.arm,
        coordinates.case_id,
        coordinates.repeat,
        scope_cases.cluster,
    from percentile_gates
    inner join coordinates using (campaign_id)
    inner join scope_cases using (campaign_id, case_id)
    where percentile_gates.problem is null and scope_cases.scope = ''
),

of_resources as (
    select
        grid.campaign_id,
        grid.gate_ix,
        grid.candidate_id,
        grid.arm,
        grid.case_id,
        grid.repeat,
        grid.cluster,
        resource_of(cells, grid.resource)::double as value,
    from grid
    left join cells using (campaign_id, candidate_id, arm, case_id, repeat)
    where grid.resource is not null
),

of_metrics as (
    select
        grid.campaign_id,
        grid.gate_ix,
        grid.candidate_id,
        grid.arm,
        grid.case_id,
        grid.repeat,
        grid.cluster,
        observations.value,
    from grid
    left join observations using (campaign_id, candidate_id, arm, case_id, repeat, metric)
    where grid.metric is not null
),

together as (
    select * from of_resources
    union all
    select * from of_metrics
),

valued as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        arm,
        case_id,
        repeat,
        cluster,
        if(is_usable(value), value, null) as value,
    from together
)

select * from valued
