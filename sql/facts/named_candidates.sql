-- Named candidates: what pages call the baseline and each candidate.
-- Grain: one row for each declared candidate of a campaign, its baseline included.
-- columns:
--   campaign_id: Campaign that declared the candidate.
--   candidate_id: Identity of the candidate.
--   arm: baseline or candidate.
--   label: Label, cut where it is long; the beginning of the id stands behind it where several bear the same, and alone
--     while the candidate is not registered.
--   sort_label: Label as declared, to sort by.
with cut as (
    select
        campaign_id,
        candidate_id,
        arm,
        label as sort_label,
        shown(label, 120) as label,
        is_registered,
        count(*) over (partition by campaign_id, shown(label, 120)) > 1 as is_ambiguous,
        replace(candidate_id, 'sha256:', '')[:12] as short_id,
    from declared_candidates
),

named as (
    select
        campaign_id,
        candidate_id,
        arm,
        case
            when not is_registered then short_id || '…'
            when is_ambiguous then format('{} ({})', label, short_id)
            else label
        end as label,
        sort_label,
    from cut
)

select * from named
