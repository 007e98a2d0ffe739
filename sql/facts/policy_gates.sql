-- Policy gates: the gates that a campaign's policy names, in the order in which they decide.
-- Grain: one row for each gate of a campaign's policy.
-- columns:
--   campaign_id: Campaign that declared the policy.
--   gate_ix: Position in the policy, counted from 0.
--   kind: Gate kind; the file gate_<kind>.sql decides it.
--   name: Name of the gate in reports.
--   metric: Metric that the gate reads; NULL where it reads none.
--   threshold: Bound of the gate; NULL where it has none.
--   options: Further settings, as JSON.
with listed as (
    select
        campaign_id,
        unnest(gates) as gate,
        unnest(range(len(gates))) as gate_ix,
    from declarations
),

described as (
    select
        campaign_id,
        gate_ix::integer as gate_ix,
        gate.kind as kind,
        gate.name as name,
        gate.metric as metric,
        gate.threshold as threshold,
        gate.options as options,
    from listed
)

select * from described
