-- Declared pairs: every case and repeat at which both arms are to be tried.
-- Grain: one row for each planned case and repeat of a campaign.
-- columns:
--   campaign_id: Campaign that declared it.
--   case_id: Case.
--   repeat: Repeat, counted from 0.
with workload as (
    select campaign_id, case_id
    from planned_cases
),

declared as (
    select
        workload.campaign_id,
        workload.case_id,
        unnest(range(declarations.repeats))::integer as repeat,
    from workload
    inner join declarations using (campaign_id)
)

select * from declared
