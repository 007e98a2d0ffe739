-- Accepted cells: what happened at each coordinate.
-- Grain: one row for each accepted cell, that is each (campaign, candidate, case, repeat, arm) with a terminal result.
-- `success` carries comparable measurements. `domain_failure` is evidence against the arm that failed.
-- `infrastructure_failure` and `cancelled` are no evidence about quality. NULL is unknown, never zero.
-- Two rows at one coordinate, or `measured` unequal to the measurements found, means a torn or damaged projection.
create table cells (
    campaign_id varchar not null,
    candidate_id varchar not null,
    arm varchar not null,
    case_id varchar not null,
    repeat integer not null,
    status varchar not null,
    measured integer not null,
    failure_code varchar,
    failure_message varchar,
    is_retryable boolean,
    seed varchar not null,
    cost_usd double,
    input_tokens bigint,
    output_tokens bigint,
    duration_s double,
    started_at timestamp,
    finished_at timestamp,
    artifact_id varchar,
    attempts integer not null,
    worker varchar,
    sequence bigint not null,
);
comment on table cells is 'One row for each accepted cell: the terminal result at a coordinate.';
comment on column cells.campaign_id is 'Campaign of the coordinate.';
comment on column cells.candidate_id is 'Candidate of the coordinate; the baseline has an identity of its own.';
comment on column cells.arm is 'baseline or candidate.';
comment on column cells.case_id is 'Case of the coordinate.';
comment on column cells.repeat is 'Repeat of the coordinate, counted from 0.';
comment on column cells.status is 'success, domain_failure, infrastructure_failure or cancelled.';
comment on column cells.measured is 'Number of rows in measurements that belong to this cell.';
comment on column cells.failure_code is 'Short stable name of what failed; NULL on success.';
comment on column cells.failure_message is 'What failed, in words, secrets scrubbed and length bounded; NULL on success.';
comment on column cells.is_retryable is 'Whether another attempt might have succeeded (timeout, connection, rate limit); NULL on success.';
comment on column cells.seed is 'Seed of (case, repeat) as 16 hex digits, shared by both arms.';
comment on column cells.cost_usd is 'Money spent in US dollars, over all attempts on record at the coordinate; NULL where one of them is unknown.';
comment on column cells.input_tokens is 'Tokens sent to models, over all attempts on record at the coordinate; NULL where one of them is unknown.';
comment on column cells.output_tokens is 'Tokens received from models, over all attempts on record at the coordinate; NULL where one of them is unknown.';
comment on column cells.duration_s is 'Seconds the accepted attempt alone took, by a monotonic clock; NULL where nobody measured it.';
comment on column cells.started_at is 'UTC wall-clock start of the accepted attempt.';
comment on column cells.finished_at is 'UTC wall-clock end of the accepted attempt.';
comment on column cells.artifact_id is 'Native trial artifact that holds the evidence; NULL where none was retained.';
comment on column cells.attempts is 'Attempts made at the coordinate, the accepted one included.';
comment on column cells.worker is 'Executor slot that ran the accepted attempt.';
comment on column cells.sequence is 'Sequence of the event that accepted the cell.';

-- Projection: reads the relation `segment`, the events of one segment.
insert into cells by name
with completed as (
    select
        campaign_id,
        sequence,
        from_json(payload, '{
            "candidate_id": "VARCHAR", "arm": "VARCHAR", "case_id": "VARCHAR", "repeat": "INTEGER",
            "status": "VARCHAR", "seed": "VARCHAR", "attempts": "INTEGER", "worker": "VARCHAR",
            "cost_usd": "DOUBLE", "input_tokens": "BIGINT", "output_tokens": "BIGINT", "duration_s": "DOUBLE",
            "started_at": "VARCHAR", "finished_at": "VARCHAR", "artifact_id": "VARCHAR",
            "failure": {"code": "VARCHAR", "message": "VARCHAR", "is_retryable": "BOOLEAN"},
            "measurements": [{"metric": "VARCHAR"}]
        }') as trial,
    from segment
    where type = 'trial.completed'
)
select
    campaign_id,
    trial.candidate_id as candidate_id,
    trial.arm as arm,
    trial.case_id as case_id,
    trial.repeat as repeat,
    trial.status as status,
    len(trial.measurements)::integer as measured,
    trial.failure.code as failure_code,
    trial.failure.message as failure_message,
    trial.failure.is_retryable as is_retryable,
    trial.seed as seed,
    trial.cost_usd as cost_usd,
    trial.input_tokens as input_tokens,
    trial.output_tokens as output_tokens,
    trial.duration_s as duration_s,
    trial.started_at::timestamp as started_at,
    trial.finished_at::timestamp as finished_at,
    trial.artifact_id as artifact_id,
    trial.attempts as attempts,
    trial.worker as worker,
    sequence,
from completed
order by sequence;
