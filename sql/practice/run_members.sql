-- Run members: the attempts of each search run: its own ones, then those that were bound to it.
-- Grain: one row for each attempt of a valid run. An attempt that several operator results hold stands once: by the
-- admitted binding, or else by the one that landed first.
-- The run itself holds its original attempts alone; what was bound is a member by its binding, and uses the run's budget
-- only where it was admitted.
-- columns:
--   run_id: Search run.
--   member_ix: Order in the run, counted from 0: original attempts in the run's order, then bound ones by their declared
--     position.
--   source: original or bound.
--   attempt_id: The attempt.
--   attempt_index: Position that the attempt declares.
--   candidate_digest: Candidate that was attempted.
--   candidates: Candidates that the attempt used.
--   steps: Steps that the attempt used.
--   depth: Depth of the attempt.
--   step_index: Step at which the attempt began.
--   binding_id: Evidence of the membership; NULL for an original attempt.
--   operator_result_id: Operator result that the attempt comes from; NULL for an original attempt.
--   admission: admitted or refused; NULL for an original attempt, and where nobody asked yet.
with originals as (
    select
        runs.run_id,
        0 as source_ix,
        'original' as source,
        unnest(
            from_json(
                json_extract(runs.payload, '$.candidate_attempts'),
                '[{"attempt_id": "VARCHAR", "attempt_index": "BIGINT", "candidate_digest": "VARCHAR",
                "budget_charge": {"candidates": "BIGINT", "steps": "BIGINT"}, "depth": "BIGINT",
                "step_index": "BIGINT"}]'
            )
        ) as attempt,
    from runs
    where runs.is_valid
),

bound as (
    select
        bindings.run_id,
        1 as source_ix,
        'bound' as source,
        bindings.attempt_id,
        bindings.attempt_index,
        bindings.candidate_digest,
        bindings.candidates,
        bindings.steps,
        bindings.depth,
        bindings.step_index,
        bindings.binding_id,
        bindings.operator_result_id,
        admissions.admission,
        bindings.landing,
        bindings.position,
    from bindings
    left join admissions using (binding_id)
    where bindings.outcome = 'bound'
    qualify
        row_number() over (
            partition by bindings.run_id, bindings.attempt_id
            order by admissions.admission = 'admitted' desc nulls last, bindings.landing, bindings.position
        ) = 1
),

members as (
    select
        run_id,
        source_ix,
        source,
        attempt.attempt_id,
        attempt.attempt_index,
        attempt.candidate_digest,
        attempt.budget_charge.candidates as candidates,
        attempt.budget_charge.steps as steps,
        attempt.depth,
        attempt.step_index,
        null::varchar as binding_id,
        null::varchar as operator_result_id,
        null::varchar as admission,
        0 as landing,
        0 as position,
    from originals

    union all by name

    from bound
),

numbered as (
    select
        run_id,
        row_number() over (
            partition by run_id
            order by source_ix, attempt_index, landing, position
        ) - 1 as member_ix,
        source,
        attempt_id,
        attempt_index,
        candidate_digest,
        candidates,
        steps,
        depth,
        step_index,
        binding_id,
        operator_result_id,
        admission,
    from members
)

select * from numbered
