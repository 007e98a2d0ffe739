-- Measurements: one metric value of a cell.
-- Grain: one row for each metric that a cell reports, whatever the cell's status.
-- `value` NULL with a `missing_reason` is a metric that the runner could not give. A metric of which the cell says
-- nothing at all has no row. Measurements of unsuccessful cells are kept for reading and enter no comparison.
create table measurements (
    campaign_id varchar not null,
    candidate_id varchar not null,
    arm varchar not null,
    case_id varchar not null,
    repeat integer not null,
    metric varchar not null,
    value double,
    missing_reason varchar,
    status varchar not null,
);
comment on table measurements is 'One row for each metric that a cell reports.';
comment on column measurements.campaign_id is 'Campaign of the coordinate.';
comment on column measurements.candidate_id is 'Candidate of the coordinate; the baseline has an identity of its own.';
comment on column measurements.arm is 'baseline or candidate.';
comment on column measurements.case_id is 'Case of the coordinate.';
comment on column measurements.repeat is 'Repeat of the coordinate, counted from 0.';
comment on column measurements.metric is 'Name of the metric, as declared in metrics.';
comment on column measurements.value is 'Finite value in the metric''s own unit and direction; NULL where missing.';
comment on column measurements.missing_reason is 'not_applicable, judge_failed, not_finite or not_emitted; NULL where a value stands.';
comment on column measurements.status is 'Status of the cell, repeated here so that reading values needs no join.';

-- Projection: reads the relation `segment`, the events of one segment.
insert into measurements by name
with completed as (
    select
        campaign_id,
        sequence,
        from_json(payload, '{
            "candidate_id": "VARCHAR", "arm": "VARCHAR", "case_id": "VARCHAR", "repeat": "INTEGER",
            "status": "VARCHAR",
            "measurements": [{"metric": "VARCHAR", "value": "DOUBLE", "missing_reason": "VARCHAR"}]
        }') as trial,
    from segment
    where type = 'trial.completed'
),

reported as (
    select
        campaign_id,
        sequence,
        trial,
        unnest(trial.measurements) as measurement,
    from completed
)
select
    campaign_id,
    trial.candidate_id as candidate_id,
    trial.arm as arm,
    trial.case_id as case_id,
    trial.repeat as repeat,
    measurement.metric as metric,
    measurement.value as value,
    measurement.missing_reason as missing_reason,
    trial.status as status,
from reported
order by sequence, metric;
