-- Campaign: what was declared, by what it ran, and how its history ends.
-- Grain: one row.
with first_event as (
    select payload
    from events
    where type = 'campaign.started' and sequence = 1
),

last_event as (
    select
        digest,
        recorded_at,
    from events
    order by sequence desc
    limit 1
)

select
    campaigns.campaign_id,
    shown(campaigns.name, 200) as name,
    campaigns.state,
    campaigns.cases,
    campaigns.planned_cases,
    campaigns.repeats,
    campaigns.candidates,
    campaigns.metrics,
    campaigns.preference,
    campaigns.min_gain,
    declarations.infers_to,
    campaigns.coupling,
    campaigns.reproducibility,
    shown(campaigns.runner_id, 200) as runner_id,
    shown(campaigns.runner_version, 200) as runner_version,
    json_extract_string(first_event.payload, '$.provenance.source') as runner_source,
    json_extract_string(first_event.payload, '$.provenance.git.commit') as git_commit,
    json_extract_string(first_event.payload, '$.provenance.git.is_dirty')::boolean as is_git_dirty,
    json_extract_string(first_event.payload, '$.provenance.python') as python,
    json_extract_string(first_event.payload, '$.provenance.platform') as platform,
    json_extract_string(first_event.payload, '$.provenance.versions.opfield') as opfield,
    json_extract_string(first_event.payload, '$.provenance.versions.duckdb') as duckdb,
    json_exists(first_event.payload, '$.intake_artifact') as is_ingested,
    shown(campaigns.workload_id, 200) as workload_id,
    campaigns.workload_digest,
    shown(campaigns.space, 200) as space,
    shown(campaigns.proposer, 200) as proposer,
    campaigns.baseline_digest,
    campaigns.policy_digest,
    campaigns.seed_root,
    campaigns.confirms,
    strftime(campaigns.started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
    strftime(campaigns.finished_at, '%Y-%m-%dT%H:%M:%SZ') as finished_at,
    campaigns.events,
    campaigns.root,
    last_event.digest as last_digest,
    strftime(last_event.recorded_at, '%Y-%m-%dT%H:%M:%SZ') as last_at,
from campaigns
inner join declarations using (campaign_id)
cross join first_event
cross join last_event
