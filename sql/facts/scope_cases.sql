-- Scope cases: the cases that belong to each scope of a policy's gates, and the unit that each is part of.
-- Grain: one row for each scope and case in it.
-- A scope without a row here has no case. All cases are a scope of every campaign, whatever its gates.
-- columns:
--   campaign_id: Campaign.
--   scope: Scope, as in `judged_scopes`; empty for all cases.
--   case_id: Case.
--   cluster: Unit of analysis: the declared cluster, else the case itself.
--   is_clustered: Whether the workload declares a cluster for the case.
with workload as (
    select distinct on (campaign_id, case_id)
        campaign_id,
        case_id,
        groups,
        coalesce('cluster ' || cluster_id, 'case ' || case_id) as cluster,
        cluster_id is not null as is_clustered,
    from cases
    semi join planned_cases using (campaign_id, case_id)
),

restricted as (
    select distinct campaign_id, scope
    from judged_scopes
    where scope <> ''
),

conditions as (
    select
        campaign_id,
        scope,
        cardinality(wanted) as conditions,
        unnest(map_keys(wanted)) as key,
        unnest(map_values(wanted)) as value,
    from (select campaign_id, scope, try_cast(scope::json as map(varchar, varchar)) as wanted from restricted)
),

members as (
    select
        conditions.campaign_id,
        conditions.scope,
        workload.case_id,
        workload.cluster,
        workload.is_clustered,
    from conditions
    inner join workload using (campaign_id)
    where workload.groups[conditions.key] = conditions.value
    group by all
    having count(*) = any_value(conditions.conditions)
),

belonging as (
    select campaign_id, '' as scope, case_id, cluster, is_clustered from workload
    union all
    select campaign_id, scope, case_id, cluster, is_clustered from members
)

select * from belonging
