-- Admission checks: what stands in the way of admitting each binding that nobody asked to admit yet.
-- Grain: one row for each binding without a row in `admissions`.
-- Reasons: candidates_exceed_remaining and steps_exceed_remaining, the run has less left than the attempt charges;
-- attempt_index_taken, attempt_taken and candidate_taken, an admitted binding of the run has the same position, attempt
-- or candidate. None at all: it can be admitted now.
-- columns:
--   run_id: Run of the binding.
--   binding_id: The binding.
--   candidates: Candidates that it would charge.
--   steps: Steps that it would charge.
--   reason_codes: What stands in the way, in the order above; empty where nothing does.
--   landing: Landing that brought the binding.
--   position: Its position in the landing; bindings are admitted in this order.
with waiting as (
    select bindings.*,
    from bindings
    anti join admissions using (binding_id)
    where bindings.outcome = 'bound'
),

taken as (
    select
        bindings.run_id,
        list(bindings.attempt_index) as indexes,
        list(bindings.attempt_id) as attempts,
        list(bindings.candidate_digest) as candidate_digests,
    from bindings
    inner join admissions using (binding_id)
    where admissions.admission = 'admitted'
    group by bindings.run_id
),

checked as (
    select
        waiting.run_id,
        waiting.binding_id,
        waiting.candidates,
        waiting.steps,
        list_filter(
            [
                case when waiting.candidates > run_budgets.remaining_candidates then 'candidates_exceed_remaining' end,
                case when waiting.steps > run_budgets.remaining_steps then 'steps_exceed_remaining' end,
                case when list_contains(taken.indexes, waiting.attempt_index) then 'attempt_index_taken' end,
                case when list_contains(taken.attempts, waiting.attempt_id) then 'attempt_taken' end,
                case when list_contains(taken.candidate_digests, waiting.candidate_digest) then 'candidate_taken' end
            ],
            lambda reason: reason is not null
        ) as reason_codes,
        waiting.landing,
        waiting.position,
    from waiting
    inner join run_budgets using (run_id)
    left join taken using (run_id)
)

select * from checked
