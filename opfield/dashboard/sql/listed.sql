-- Listed: every campaign, with how far it came.
-- Grain: one row for each campaign whose ledger begins with campaign.started.
with accepted as (
    select
        campaign_id,
        count(*) as accepted,
        count(*) filter (where status <> 'success') as failed,
    from cells
    group by campaign_id
),

labels as (
    select
        campaign_id,
        candidate_id,
        min(label) as label,
    from candidates
    group by campaign_id, candidate_id
)

select
    campaigns.campaign_id,
    shown(campaigns.name, 200) as name,
    campaigns.state,
    part_awaiting.campaign_id is not null as is_awaiting,
    campaigns.outcome,
    if(campaigns.outcome = 'selected', shown(labels.label, 120), null) as selected,
    campaigns.candidates,
    campaigns.planned_cases as cases,
    campaigns.repeats,
    coalesce(
        declarations.coordinates, campaigns.planned_cases * campaigns.repeats * (1 + campaigns.candidates)
    )::bigint as declared,
    coalesce(accepted.accepted, 0)::bigint as accepted,
    coalesce(accepted.failed, 0)::bigint as failed,
    campaigns.started_at,
    null::varchar as problem,
from campaigns
inner join declarations using (campaign_id)
left join accepted using (campaign_id)
left join part_awaiting using (campaign_id)
left join labels on labels.campaign_id = campaigns.campaign_id and labels.candidate_id = campaigns.selected_id
