-- Declared pairs: every case and repeat at which both arms are to be tried.
-- Grain: one row for each planned case and repeat of a campaign.
-- columns:
--   campaign_id: Campaign that declared it.
--   case_id: Case.
--   repeat: Repeat, counted from 0.
with workload as (
    select
        planned_cases.campaign_id,
        planned_cases.case_id,
        repeats_stated(stated_repeats.repeats, declarations.baseline_id, declarations.repeats) as repeats,
    from planned_cases
    inner join declarations using (campaign_id)
    left join stated_repeats using (campaign_id, case_id)
),

declared as (
    select
        campaign_id,
        case_id,
        unnest(range(repeats))::integer as repeat,
    from workload
)

select * from declared
