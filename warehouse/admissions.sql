-- Admissions: whether a bound attempt was let into its run's budget.
-- Grain: one row for each binding that somebody asked to admit.
-- An admission charges the run what the attempt declares; a refusal charges nothing and is final, since a run's budget
-- only ever shrinks.
create table admissions (
    row_key varchar not null,
    binding_id varchar not null,
    run_id varchar not null,
    admission varchar not null,
    reason_codes varchar[] not null,
    candidates bigint not null,
    steps bigint not null,
    schema varchar not null,
    payload varchar not null,
    digest varchar not null,
    landing integer not null,
    position integer not null,
);
comment on table admissions is 'One row for each binding that somebody asked to admit.';
comment on column admissions.row_key is 'What no second row may have: the binding''s id.';
comment on column admissions.binding_id is 'Binding that was asked about.';
comment on column admissions.run_id is 'Run of the binding.';
comment on column admissions.admission is 'admitted or refused.';
comment on column admissions.reason_codes is 'Why it was refused, as in `admission_checks`; empty where it was admitted.';
comment on column admissions.candidates is 'Candidates that the attempt charges; charged only where it was admitted.';
comment on column admissions.steps is 'Steps that the attempt charges; charged only where it was admitted.';
comment on column admissions.schema is 'Schema of the envelope.';
comment on column admissions.payload is 'Canonical JSON of the record.';
comment on column admissions.digest is 'Digest of the envelope.';
comment on column admissions.landing is 'Landing that brought the row, counted from 1.';
comment on column admissions.position is 'Position in its landing, counted from 0.';

-- Projection: reads `landed`, the envelopes of one landing.
insert into admissions by name
select
    json_extract_string(payload, '$.binding_id') as row_key,
    json_extract_string(payload, '$.binding_id') as binding_id,
    json_extract_string(payload, '$.original_run_id') as run_id,
    json_extract_string(payload, '$.admission') as admission,
    from_json(json_extract(payload, '$.reason_codes'), '["VARCHAR"]') as reason_codes,
    json_extract(payload, '$.budget_charge.candidates')::bigint as candidates,
    json_extract(payload, '$.budget_charge.steps')::bigint as steps,
    schema,
    payload,
    digest,
    landing,
    position,
from landed
where schema = 'opfield.run_admission/v1'
