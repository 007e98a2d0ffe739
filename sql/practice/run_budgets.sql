-- Run budgets: what each search run may use, used itself, was charged by admitted bindings, and has left.
-- Grain: one row for each valid run.
-- A binding alone charges nothing. A remainder below 0 means that more was admitted than the run allows, which
-- `broken_memberships` tells.
-- columns:
--   run_id: Search run.
--   max_candidates: Most candidates.
--   consumed_candidates: Candidates that the run itself used.
--   charged_candidates: Candidates of admitted bindings.
--   remaining_candidates: Candidates that are left.
--   asked_candidates: Candidates of bindings that nobody asked to admit yet; may be more than what is left.
--   max_steps: Most steps.
--   consumed_steps: Steps that the run itself used.
--   charged_steps: Steps of admitted bindings.
--   remaining_steps: Steps that are left.
--   asked_steps: Steps of bindings that nobody asked to admit yet; may be more than what is left.
--   max_depth: Greatest depth; each binding is held to it when it is made, and it is not used up.
--   bound: Bindings of the run.
--   admitted: Admitted ones among them.
--   refused: Bindings of the run that were refused admission.
with charges as (
    select
        bindings.run_id,
        count(*) as bound,
        count(*) filter (where admissions.admission = 'admitted') as admitted,
        count(*) filter (where admissions.admission = 'refused') as refused,
        coalesce(sum(bindings.candidates) filter (where admissions.admission = 'admitted'), 0) as charged_candidates,
        coalesce(sum(bindings.steps) filter (where admissions.admission = 'admitted'), 0) as charged_steps,
        coalesce(sum(bindings.candidates) filter (where admissions.admission is null), 0) as asked_candidates,
        coalesce(sum(bindings.steps) filter (where admissions.admission is null), 0) as asked_steps,
    from bindings
    left join admissions using (binding_id)
    where bindings.outcome = 'bound'
    group by bindings.run_id
),

budgets as (
    select
        runs.run_id,
        runs.max_candidates,
        runs.candidates_considered as consumed_candidates,
        coalesce(charges.charged_candidates, 0)::hugeint as charged_candidates,
        runs.max_candidates - runs.candidates_considered - coalesce(charges.charged_candidates, 0)::hugeint
            as remaining_candidates,
        coalesce(charges.asked_candidates, 0)::hugeint as asked_candidates,
        runs.max_steps,
        runs.steps_used as consumed_steps,
        coalesce(charges.charged_steps, 0)::hugeint as charged_steps,
        runs.max_steps - runs.steps_used - coalesce(charges.charged_steps, 0)::hugeint as remaining_steps,
        coalesce(charges.asked_steps, 0)::hugeint as asked_steps,
        runs.max_depth,
        coalesce(charges.bound, 0) as bound,
        coalesce(charges.admitted, 0) as admitted,
        coalesce(charges.refused, 0) as refused,
    from runs
    left join charges using (run_id)
    where runs.is_valid
)

select * from budgets
