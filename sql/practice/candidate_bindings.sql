-- Candidate bindings: the bound attempts that campaigns took as candidates, and whether they may stand there.
-- Grain: one row for each candidate of a campaign behind which a binding is declared or registered.
-- A row that is not sound means that the history was not written by opfield, or that the bindings were taken from the
-- folder; an audit tells.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate that the attempt became.
--   label: Short name of the candidate; NULL until it is registered.
--   binding_id: Binding that the registration names; NULL until it is registered, and where it names none.
--   run_id: Run of which the attempt is a member; NULL where the binding is not in this warehouse.
--   attempt_id: The attempt; NULL where the binding is not in this warehouse.
--   admission: admitted or refused; NULL where nobody asked, or the binding is not in this warehouse.
--   is_sound: Whether the binding is the one that the campaign's identity declares, and admitted to its run; NULL until
--     the candidate is registered.
with declared as (
    select
        campaign_id,
        unnest(
            from_json(
                json_extract(payload, '$.identity.bindings'),
                '[{"candidate_id": "VARCHAR", "binding_id": "VARCHAR"}]'
            )
        ) as binding,
    from events
    where type = 'campaign.started'
),

registered as (
    select
        campaign_id,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.label') as label,
        json_extract_string(payload, '$.binding_id') as binding_id,
    from events
    where type = 'candidate.registered'
),

joined as (
    select
        coalesce(registered.campaign_id, declared.campaign_id) as campaign_id,
        coalesce(registered.candidate_id, declared.binding.candidate_id) as candidate_id,
        registered.label,
        registered.binding_id,
        declared.binding.binding_id as declared_id,
    from registered
    full join declared
        on registered.campaign_id = declared.campaign_id
        and registered.candidate_id = declared.binding.candidate_id
),

found as (
    select
        joined.campaign_id,
        joined.candidate_id,
        joined.label,
        joined.binding_id,
        bindings.run_id,
        bindings.attempt_id,
        admissions.admission,
        case
            when joined.label is not null
                then
                    joined.binding_id is not distinct from joined.declared_id
                    and coalesce(admissions.admission = 'admitted', false)
        end as is_sound,
    from joined
    left join bindings using (binding_id)
    left join admissions using (binding_id)
    where joined.binding_id is not null or joined.declared_id is not null
)

select * from found
