-- Bindings: what came of each operator result that was handed over with a run: a binding or a refusal (ADR-0232).
-- Grain: one row for each binding, and one for each refusal of a pair of records.
-- A binding is evidence of membership alone; it uses no budget, which an admission does.
-- A refusal names only what could be validated: all that it cannot name is NULL, as is what a binding alone has.
create table bindings (
    row_key varchar not null,
    outcome varchar not null,
    binding_id varchar,
    binding_refusal_id varchar,
    run_id varchar,
    operator_result_id varchar,
    attempt_id varchar,
    attempt_index bigint,
    candidate_digest varchar,
    candidates bigint,
    steps bigint,
    depth bigint,
    step_index bigint,
    reason_codes varchar[] not null,
    run_digest varchar,
    operator_result_digest varchar not null,
    schema varchar not null,
    payload varchar not null,
    digest varchar not null,
    landing integer not null,
    position integer not null,
);
comment on table bindings is 'One row for each binding, and one for each refusal of a pair of records.';
comment on column bindings.row_key is
    'What no second row may have: the binding''s id, or the refusal''s with the digests of the pair.';
comment on column bindings.outcome is 'bound or refused.';
comment on column bindings.binding_id is 'Identity of the membership; NULL for a refusal.';
comment on column bindings.binding_refusal_id is 'Identity of the refusal; NULL for a binding.';
comment on column bindings.run_id is 'Run that the attempt is a member of; NULL where a refusal could not validate it.';
comment on column bindings.operator_result_id is
    'Operator result that the attempt comes from; NULL where a refusal could not validate it.';
comment on column bindings.attempt_id is 'The attempt; NULL where a refusal could not validate it.';
comment on column bindings.attempt_index is 'Position of the attempt in the run; NULL for a refusal.';
comment on column bindings.candidate_digest is 'The candidate; NULL for a refusal.';
comment on column bindings.candidates is 'Candidates that the attempt declares to have used; NULL for a refusal.';
comment on column bindings.steps is 'Steps that the attempt declares to have used; NULL for a refusal.';
comment on column bindings.depth is 'Depth of the attempt; NULL for a refusal.';
comment on column bindings.step_index is 'Step at which the attempt began; NULL for a refusal.';
comment on column bindings.reason_codes is 'Why, as codes in the order of the rules.';
comment on column bindings.run_digest is
    'Digest of the run''s envelope in `runs`; NULL where no run was found that the result names.';
comment on column bindings.operator_result_digest is 'Digest of the result''s envelope in `operator_results`.';
comment on column bindings.schema is 'Schema of the envelope.';
comment on column bindings.payload is 'Canonical JSON of the record.';
comment on column bindings.digest is 'Digest of the envelope.';
comment on column bindings.landing is 'Landing that brought the row, counted from 1.';
comment on column bindings.position is 'Position in its landing, counted from 0.';

-- Projection: reads `landed`, the envelopes of one landing.
insert into bindings by name
select
    case
        when schema = 'opfield.candidate_attempt_run_binding/v1' then json_extract_string(payload, '$.binding_id')
        else concat_ws(
            ' ',
            json_extract_string(payload, '$.binding_refusal_id'),
            coalesce(run_digest, 'none'),
            operator_result_digest
        )
    end as row_key,
    case when schema = 'opfield.candidate_attempt_run_binding/v1' then 'bound' else 'refused' end as outcome,
    json_extract_string(payload, '$.binding_id') as binding_id,
    json_extract_string(payload, '$.binding_refusal_id') as binding_refusal_id,
    json_extract_string(payload, '$.original_run_id') as run_id,
    json_extract_string(payload, '$.operator_result_id') as operator_result_id,
    json_extract_string(payload, '$.candidate_attempt_id') as attempt_id,
    json_extract(payload, '$.attempt_index')::bigint as attempt_index,
    json_extract_string(payload, '$.candidate_digest') as candidate_digest,
    json_extract(payload, '$.budget_charge.candidates')::bigint as candidates,
    json_extract(payload, '$.budget_charge.steps')::bigint as steps,
    json_extract(payload, '$.depth')::bigint as depth,
    json_extract(payload, '$.step_index')::bigint as step_index,
    from_json(json_extract(payload, '$.reason_codes'), '["VARCHAR"]') as reason_codes,
    run_digest,
    operator_result_digest,
    schema,
    payload,
    digest,
    landing,
    position,
from landed
where
    schema in (
        'opfield.candidate_attempt_run_binding/v1', 'opfield.candidate_attempt_run_binding_refusal/v1'
    )
