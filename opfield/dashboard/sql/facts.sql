-- Facts: what the campaign declared, and how far it came.
-- Grain: one row.
with declared as (
    select coalesce(sum(repeats), 0)::bigint as declared
    from declared_repeats
),

waiting as (
    select count(*) as missing
    from pending
),

counted as (
    select
        count(*) as accepted,
        count(*) filter (where status = 'success') as success,
        count(*) filter (where status <> 'success') as failed,
        max(sequence) as last_sequence,
    from cells
),

labels as (
    select
        candidate_id,
        label,
    from listed_candidates
)

select
    campaigns.campaign_id,
    shown(campaigns.name, 200) as name,
    campaigns.state,
    part_awaiting.campaign_id is not null as is_awaiting,
    campaigns.outcome,
    labels.label as selected,
    campaigns.candidates,
    campaigns.cases,
    campaigns.planned_cases,
    campaigns.repeats,
    campaigns.metrics,
    shown(campaigns.preference, 120) as preference,
    campaigns.coupling,
    campaigns.reproducibility,
    shown(campaigns.runner_id, 200) as runner_id,
    shown(campaigns.runner_version, 80) as runner_version,
    campaigns.confirms,
    campaigns.started_at,
    campaigns.finished_at,
    campaigns.events,
    campaigns.root,
    declared.declared,
    counted.accepted,
    counted.success,
    counted.failed,
    counted.last_sequence,
    waiting.missing,
from campaigns
cross join declared
cross join waiting
cross join counted
left join part_awaiting on part_awaiting.campaign_id = campaigns.campaign_id
left join labels on labels.candidate_id = campaigns.selected_id and campaigns.outcome = 'selected'
