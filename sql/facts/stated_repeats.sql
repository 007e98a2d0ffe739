-- Stated repeats: how often the cases of a ragged campaign run on each arm, where that differs from what it declares for
-- all. Only a campaign that declares its number of coordinates is ragged; others have no row.
-- Grain: one row for each case that states it.
-- columns:
--   campaign_id: Campaign that declared the case.
--   case_id: Case.
--   repeats: Candidate id, or the baseline's, to repeats; an id that is not in it runs as often as all.
with ragged as (
    select campaign_id
    from declarations
    where coordinates is not null
),

stated as (
    select distinct on (campaign_id, case_id)
        campaign_id,
        case_id,
        try_cast(try_cast(groups[''] as json) as map(varchar, bigint)) as repeats,
    from cases
    semi join ragged using (campaign_id)
    where groups[''] is not null
)

select * from stated
