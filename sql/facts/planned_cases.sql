-- Planned cases: the cases that a campaign is to try, in the order in which a sequential gate looks at them.
-- Grain: one row for each case of the plan.
-- The order is registered before the first trial and is nobody's choice: by a hash of the seed root and the case, the
-- cases of a cluster together. A campaign that a sequential gate stopped early plans the first cases only; the rest are
-- not planned, which is not missing.
-- columns:
--   campaign_id: Campaign that declared the case.
--   case_id: Case.
--   position: Place in the registered order, counted from 1.
with closings as (
    select
        campaign_id,
        min(try_cast(json_extract_string(payload, '$.cases') as bigint)) as cases,
    from events
    where type = 'plan.closed'
    group by campaign_id
),

workload as (
    select distinct on (campaign_id, case_id)
        campaign_id,
        case_id,
        coalesce('cluster ' || cluster_id, 'case ' || case_id) as cluster,
    from cases
),

ordered as (
    select
        workload.campaign_id,
        workload.case_id,
        row_number() over (
            partition by workload.campaign_id
            order by
                md5(declarations.seed_root || workload.cluster),
                md5(declarations.seed_root || workload.case_id),
                workload.case_id
        ) as position,
    from workload
    inner join declarations using (campaign_id)
),

planned as (
    select
        ordered.campaign_id,
        ordered.case_id,
        ordered.position,
    from ordered
    left join closings using (campaign_id)
    where closings.cases is null or ordered.position <= closings.cases
)

select * from planned
