-- Cases: the workload that a campaign declared before its first trial.
-- Grain: one row for each case of a campaign's workload.
-- A case in cells that is not here is an unexpected cell; a case here without cells is pending or missing.
create table cases (
    campaign_id varchar not null,
    workload_id varchar not null,
    case_id varchar not null,
    case_digest varchar not null,
    case_ix integer not null,
    groups map(varchar, varchar) not null,
    cluster_id varchar,
    partition varchar,
    input varchar,
);
comment on table cases is 'One row for each case of a campaign''s workload.';
comment on column cases.campaign_id is 'Campaign that declared the case.';
comment on column cases.workload_id is 'Name of the workload.';
comment on column cases.case_id is 'Identity of the case inside the workload, exactly as declared.';
comment on column cases.case_digest is 'Digest of the case''s input envelope, equal wherever the same input is used.';
comment on column cases.case_ix is 'Position in the declared order, counted from 0.';
comment on column cases.groups is 'Strata of the case, key to value. Where the workload states how often the case runs on each arm, the empty key, which no stratum can bear, holds that: a JSON object of candidate id to repeats.';
comment on column cases.cluster_id is 'Cluster that the case belongs to; NULL where the case is its own unit.';
comment on column cases.partition is 'train, selection or final; NULL where the workload is not partitioned.';
comment on column cases.input is 'Canonical JSON of the case''s input.';

-- Projection: reads `segment`, the events of one segment, and `segment_artifacts`, the artifacts they name.
insert into cases by name
with started as (
    select
        campaign_id,
        json_extract_string(payload, '$.workload_artifact') as artifact_id,
    from segment
    where type = 'campaign.started'
),

workloads as (
    select
        started.campaign_id,
        from_json(decode(segment_artifacts.content), '{
            "workload_id": "VARCHAR",
            "cases": [{
                "case_id": "VARCHAR", "case_digest": "VARCHAR", "groups": "MAP(VARCHAR, VARCHAR)",
                "cluster_id": "VARCHAR", "partition": "VARCHAR", "input": "VARCHAR", "repeats": "JSON"
            }]
        }') as workload,
    from started
    inner join segment_artifacts using (artifact_id)
),

listed as (
    select
        campaign_id,
        workload.workload_id as workload_id,
        unnest(workload.cases) as listed_case,
        unnest(range(len(workload.cases))) as case_ix,
    from workloads
)
select
    campaign_id,
    workload_id,
    listed_case.case_id as case_id,
    listed_case.case_digest as case_digest,
    case_ix::integer as case_ix,
    if(
        json_type(listed_case.repeats) = 'OBJECT',
        map_concat(listed_case.groups, map {'': listed_case.repeats::varchar}),
        listed_case.groups
    ) as groups,
    listed_case.cluster_id as cluster_id,
    listed_case.partition as partition,
    listed_case.input as input,
from listed
order by case_ix;
