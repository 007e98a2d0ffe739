-- Declared pairs: every place at which both arms are to be tried and compared.
-- Grain: one row for each planned case and repeat of a campaign; where the rounds of the arms are independent (coupling
-- none), so that a repeat of one has nothing to do with the same of the other, one row for each planned case.
-- columns:
--   campaign_id: Campaign that declared it.
--   case_id: Case.
--   repeat: Repeat, counted from 0; 0 where a pair is a case.
with workload as (
    select
        planned_cases.campaign_id,
        planned_cases.case_id,
        if(
            declarations.coupling = 'none',
            1,
            repeats_stated(stated_repeats.repeats, declarations.baseline_id, declarations.repeats)
        ) as pairs,
    from planned_cases
    inner join declarations using (campaign_id)
    left join stated_repeats using (campaign_id, case_id)
),

declared as (
    select
        campaign_id,
        case_id,
        unnest(range(pairs))::integer as repeat,
    from workload
)

select * from declared
