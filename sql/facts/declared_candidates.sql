-- Declared candidates: the baseline and every candidate that a campaign set out to try.
-- Grain: one row for each candidate of a campaign, its baseline included.
-- A fixed campaign declares its candidates before the first trial; a proposer's are declared when they are registered.
-- columns:
--   campaign_id: Campaign that declared the candidate.
--   candidate_id: Identity of the candidate.
--   arm: baseline or candidate.
--   label: Short name for people; the id while the candidate is not registered.
--   is_registered: Whether the candidate is in the table of candidates.
--   spec_digest: Digest of its specification; NULL while it is not registered.
with registered as (
    select
        campaign_id,
        candidate_id,
        min(label) as label,
        min(spec_digest) as spec_digest,
        bool_and(is_baseline) as is_baseline,
    from candidates
    group by campaign_id, candidate_id
),

declared as (
    select campaign_id, baseline_id as candidate_id, 'baseline' as arm
    from declarations

    union all

    select campaign_id, unnest(candidate_ids) as candidate_id, 'candidate' as arm
    from declarations

    union all

    select campaign_id, candidate_id, 'candidate' as arm
    from registered
    inner join declarations using (campaign_id)
    where declarations.candidate_ids is null and not registered.is_baseline
),

described as (
    select
        declared.campaign_id,
        declared.candidate_id,
        declared.arm,
        coalesce(registered.label, declared.candidate_id) as label,
        registered.candidate_id is not null as is_registered,
        registered.spec_digest,
    from declared
    left join registered using (campaign_id, candidate_id)
)

select * from described
