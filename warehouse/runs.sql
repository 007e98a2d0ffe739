-- Runs: the search runs that were handed over for a binding, as they were handed over.
-- Grain: one row for each run; a record that is no valid run has one for each content.
-- Only a valid run has members and a budget. Of an invalid record nothing but its content is known: all else is NULL.
create table runs (
    row_key varchar not null,
    is_valid boolean not null,
    run_id varchar,
    run_disposition varchar,
    attempt_index_policy varchar,
    candidates_considered bigint,
    depth_reached bigint,
    steps_used bigint,
    max_candidates bigint,
    max_depth bigint,
    max_steps bigint,
    schema varchar not null,
    payload varchar not null,
    digest varchar not null,
    landing integer not null,
    position integer not null,
);
comment on table runs is 'One row for each search run that was handed over for a binding.';
comment on column runs.row_key is 'What no second row may have: the run''s id, or the digest of an invalid record.';
comment on column runs.is_valid is 'Whether the record is well-formed and bears the identity of its content.';
comment on column runs.run_id is 'Identity of the run; NULL for an invalid record.';
comment on column runs.run_disposition is 'How the run stands, in its own words; NULL for an invalid record.';
comment on column runs.attempt_index_policy is 'Which positions attempts may take; NULL for an invalid record.';
comment on column runs.candidates_considered is 'Candidates that the run itself used; NULL for an invalid record.';
comment on column runs.depth_reached is 'Greatest depth that the run itself used; NULL for an invalid record.';
comment on column runs.steps_used is 'Steps that the run itself used; NULL for an invalid record.';
comment on column runs.max_candidates is 'Most candidates that the run may use; NULL for an invalid record.';
comment on column runs.max_depth is 'Greatest depth that the run may use; NULL for an invalid record.';
comment on column runs.max_steps is 'Most steps that the run may use; NULL for an invalid record.';
comment on column runs.schema is 'Schema of the envelope.';
comment on column runs.payload is 'Canonical JSON of the record.';
comment on column runs.digest is 'Digest of the envelope.';
comment on column runs.landing is 'Landing that brought the row, counted from 1.';
comment on column runs.position is 'Position in its landing, counted from 0.';

-- Projection: reads `landed`, the envelopes of one landing.
insert into runs by name
with told as (
    select
        *,
        if(is_valid, payload, '{}') as record,
    from landed
    where schema = 'opfield.geometric_search_run/v1'
)
select
    coalesce(json_extract_string(record, '$.run_id'), digest) as row_key,
    is_valid,
    json_extract_string(record, '$.run_id') as run_id,
    json_extract_string(record, '$.run_disposition') as run_disposition,
    json_extract_string(record, '$.attempt_index_policy') as attempt_index_policy,
    json_extract(record, '$.budget_consumed.candidates_considered')::bigint as candidates_considered,
    json_extract(record, '$.budget_consumed.depth_reached')::bigint as depth_reached,
    json_extract(record, '$.budget_consumed.steps_used')::bigint as steps_used,
    json_extract(record, '$.budget_consumed.max_candidates')::bigint as max_candidates,
    json_extract(record, '$.budget_consumed.max_depth')::bigint as max_depth,
    json_extract(record, '$.budget_consumed.max_steps')::bigint as max_steps,
    schema,
    payload,
    digest,
    landing,
    position,
from told
