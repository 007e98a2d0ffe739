-- Metrics: what a campaign measures, and which way is better.
-- Grain: one row for each metric definition of a campaign.
create table metrics (
    campaign_id varchar not null,
    metric varchar not null,
    metric_ix integer not null,
    direction integer not null,
    unit varchar,
    lower double,
    upper double,
    kind varchar not null,
    on_domain_failure varchar not null,
    evaluator varchar,
    description varchar,
);
comment on table metrics is 'One row for each metric definition of a campaign.';
comment on column metrics.campaign_id is 'Campaign that declared the metric.';
comment on column metrics.metric is 'Name of the metric.';
comment on column metrics.metric_ix is 'Position in the declared order, counted from 0.';
comment on column metrics.direction is '+1 where more is better, -1 where less is better.';
comment on column metrics.unit is 'Unit of the value; NULL where it has none.';
comment on column metrics.lower is 'Lowest possible value; NULL where it has no bound.';
comment on column metrics.upper is 'Highest possible value; NULL where it has no bound.';
comment on column metrics.kind is 'continuous, binary or count.';
comment on column metrics.on_domain_failure is 'What a domain failure is worth: missing, worst, or a number in text.';
comment on column metrics.evaluator is 'Identity of what measures it; NULL where the runner does.';
comment on column metrics.description is 'What it measures, in words.';

-- Projection: reads the relation `segment`, the events of one segment.
insert into metrics by name
with started as (
    select
        campaign_id,
        from_json(json_extract(payload, '$.identity.metrics'), '[{
            "metric": "VARCHAR", "direction": "INTEGER", "unit": "VARCHAR", "lower": "DOUBLE", "upper": "DOUBLE",
            "kind": "VARCHAR", "on_domain_failure": "VARCHAR", "evaluator": "VARCHAR", "description": "VARCHAR"
        }]') as definitions,
    from segment
    where type = 'campaign.started'
),

listed as (
    select
        campaign_id,
        unnest(definitions) as definition,
        unnest(range(len(definitions))) as metric_ix,
    from started
)
select
    campaign_id,
    definition.metric as metric,
    metric_ix::integer as metric_ix,
    definition.direction as direction,
    definition.unit as unit,
    definition.lower as lower,
    definition.upper as upper,
    definition.kind as kind,
    definition.on_domain_failure as on_domain_failure,
    definition.evaluator as evaluator,
    definition.description as description,
from listed
order by metric_ix;
