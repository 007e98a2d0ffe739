-- Binding refusals: why pairs of a run and an operator result were not bound, by reason.
-- Grain: one row for each reason that any refusal gives.
-- A refusal gives every reason that holds, so that one refusal counts at several of them.
-- columns:
--   reason_code: Rule that was violated.
--   refusals: Refused pairs that violate it.
--   alone: Refused pairs that violate nothing else.
--   runs: Different valid runs among them; those that could not be validated are not counted.
--   operator_results: Different operator results among them, by what was handed over.
with reasons as (
    select
        unnest(reason_codes) as reason_code,
        len(reason_codes) = 1 as is_alone,
        run_id,
        operator_result_digest,
    from bindings
    where outcome = 'refused'
),

counted as (
    select
        reason_code,
        count(*) as refusals,
        count(*) filter (where is_alone) as alone,
        count(distinct run_id) as runs,
        count(distinct operator_result_digest) as operator_results,
    from reasons
    group by reason_code
)

select * from counted
