-- Operator results: the candidates that operators handed over for a run, as they were handed over.
-- Grain: one row for each operator result; a record that is no valid one has one for each content.
-- Of an invalid record nothing but its content is known: all else is NULL.
create table operator_results (
    row_key varchar not null,
    is_valid boolean not null,
    operator_result_id varchar,
    run_id varchar,
    operator_policy_version varchar,
    attempt_id varchar,
    attempt_index bigint,
    candidate_digest varchar,
    schema varchar not null,
    payload varchar not null,
    digest varchar not null,
    landing integer not null,
    position integer not null,
);
comment on table operator_results is 'One row for each operator result that was handed over for a binding.';
comment on column operator_results.row_key is
    'What no second row may have: the result''s id, or the digest of an invalid record.';
comment on column operator_results.is_valid is 'Whether the record is well-formed and bears the identity of its content.';
comment on column operator_results.operator_result_id is 'Identity of the result; NULL for an invalid record.';
comment on column operator_results.run_id is 'Run that it was made for; NULL for an invalid record.';
comment on column operator_results.operator_policy_version is
    'The operator and its version; NULL for an invalid record.';
comment on column operator_results.attempt_id is 'Attempt that it holds; NULL for an invalid record.';
comment on column operator_results.attempt_index is 'Position that the attempt declares; NULL for an invalid record.';
comment on column operator_results.candidate_digest is 'Candidate that was attempted; NULL for an invalid record.';
comment on column operator_results.schema is 'Schema of the envelope.';
comment on column operator_results.payload is 'Canonical JSON of the record.';
comment on column operator_results.digest is 'Digest of the envelope.';
comment on column operator_results.landing is 'Landing that brought the row, counted from 1.';
comment on column operator_results.position is 'Position in its landing, counted from 0.';

-- Projection: reads `landed`, the envelopes of one landing.
insert into operator_results by name
with told as (
    select
        *,
        if(is_valid, payload, '{}') as record,
    from landed
    where schema = 'opfield.candidate_operator_result/v1'
)
select
    coalesce(json_extract_string(record, '$.operator_result_id'), digest) as row_key,
    is_valid,
    json_extract_string(record, '$.operator_result_id') as operator_result_id,
    json_extract_string(record, '$.geometric_search_run_id') as run_id,
    json_extract_string(record, '$.operator_policy_version') as operator_policy_version,
    json_extract_string(record, '$.attempt_id') as attempt_id,
    json_extract(record, '$.attempt_index')::bigint as attempt_index,
    json_extract_string(record, '$.candidate_digest') as candidate_digest,
    schema,
    payload,
    digest,
    landing,
    position,
from told
