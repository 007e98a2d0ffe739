-- Campaigns: what each one declared, how far it came, and how it ended.
-- Grain: one row for each campaign, as in `declarations`.
-- State: running until an event ends it, then completed or cancelled; a cancelled campaign has selected nothing.
-- A campaign with events but without a row here has lost its beginning: `violations` says so.
-- columns:
--   campaign_id: Identity of the campaign.
--   name: Name that its author gave it.
--   state: running, completed or cancelled.
--   repeats: How often each case is declared to run, on each arm; the most of any, where that differs.
--   cases: Number of declared cases.
--   planned_cases: Cases that are to be tried: all, unless a sequential gate closed the plan early.
--   candidates: Number of declared candidates, the baseline not counted; NULL where a proposer brings them as it goes.
--   metrics: Number of declared metrics.
--   baseline_id: Candidate id of the baseline.
--   baseline_digest: Digest of the baseline's specification.
--   workload_id: Name of the workload.
--   workload_digest: Digest of the workload.
--   space: Space that the candidates are drawn from.
--   proposer: What proposed the candidates.
--   runner_id: Identity of the runner.
--   runner_version: Version of the runner.
--   coupling: common_seed, replayed or none: what the two arms of a pair share.
--   reproducibility: structural, material, seeded, distributional or observational.
--   policy_digest: Digest of the SQL that judges.
--   preference: Metric whose oriented change ranks the passing candidates; NULL where there is no preference.
--   min_gain: What the best candidate's score must exceed to be selected.
--   seed_root: Root of all seeds, as 16 hex digits.
--   confirms: Campaign whose selected candidate this one tries again on fresh cases; NULL for others.
--   started_at: UTC time of the first event.
--   finished_at: UTC time of the event that ended it; NULL while it runs.
--   events: Number of events in the ledger.
--   root: Digest of the event that ended it, which covers the whole history; NULL while it runs.
--   selected_id: Candidate that was recorded as selected (the baseline where it was kept); NULL until completed.
--   outcome: selected, kept_baseline or undecided, as recorded; NULL until completed.
with ended as (
    select
        campaign_id,
        type,
        recorded_at,
        payload,
        digest,
    from events
    where type in ('campaign.completed', 'campaign.cancelled')
    qualify row_number() over (partition by campaign_id order by sequence) = 1
),

counted as (
    select
        campaign_id,
        count(*) as events,
    from events
    group by campaign_id
),

closings as (
    select
        campaign_id,
        min(try_cast(json_extract_string(payload, '$.cases') as bigint)) as cases,
    from events
    where type = 'plan.closed'
    group by campaign_id
),

described as (
    select
        declarations.campaign_id,
        declarations.name,
        case ended.type
            when 'campaign.completed' then 'completed'
            when 'campaign.cancelled' then 'cancelled'
            else 'running'
        end as state,
        declarations.repeats,
        declarations.cases,
        coalesce(closings.cases, declarations.cases) as planned_cases,
        declarations.candidates,
        declarations.metrics,
        declarations.baseline_id,
        declarations.baseline_digest,
        declarations.workload_id,
        declarations.workload_digest,
        declarations.space,
        declarations.proposer,
        declarations.runner_id,
        declarations.runner_version,
        declarations.coupling,
        declarations.reproducibility,
        declarations.policy_digest,
        declarations.preference,
        declarations.min_gain,
        declarations.seed_root,
        declarations.confirms,
        declarations.started_at,
        ended.recorded_at as finished_at,
        counted.events,
        ended.digest as root,
        json_extract_string(ended.payload, '$.selected') as selected_id,
        json_extract_string(ended.payload, '$.outcome') as outcome,
    from declarations
    inner join counted using (campaign_id)
    left join ended using (campaign_id)
    left join closings using (campaign_id)
)

select * from described
