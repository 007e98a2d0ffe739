-- Broken memberships: bindings and admissions that contradict their runs or each other. Must be empty.
-- Grain: one row for each contradiction.
-- Laws: doubled, a row stands twice; run_missing and operator_result_missing, a binding names what is not there;
-- unbound, an admission names no binding, or another run or charge than it has; overspent, more was admitted than the run
-- allows; taken, two admitted bindings of a run have one position, attempt or candidate.
-- A row here means that a file was altered, copied within the warehouse, or written by something else.
-- columns:
--   law: What is broken, in a word.
--   relation: runs, operator_results, bindings or admissions.
--   row_key: Row that breaks it; a run's id for overspent and taken.
with keys as (
    select 'runs' as relation, row_key, from runs
    union all
    select 'operator_results' as relation, row_key, from operator_results
    union all
    select 'bindings' as relation, row_key, from bindings
    union all
    select 'admissions' as relation, row_key, from admissions
),

doubled as (
    select 'doubled' as law, relation, row_key,
    from keys
    group by relation, row_key
    having count(*) > 1
),

without_run as (
    select 'run_missing' as law, 'bindings' as relation, bindings.row_key,
    from bindings
    anti join (select run_id, from runs where is_valid) as valid using (run_id)
    where bindings.outcome = 'bound'
),

without_result as (
    select 'operator_result_missing' as law, 'bindings' as relation, bindings.row_key,
    from bindings
    anti join (select operator_result_id, from operator_results where is_valid) as valid using (operator_result_id)
    where bindings.outcome = 'bound'
),

unbound as (
    select 'unbound' as law, 'admissions' as relation, admissions.row_key,
    from admissions
    anti join (select * from bindings where outcome = 'bound') as bound
        using (binding_id, run_id, candidates, steps)
),

overspent as (
    select 'overspent' as law, 'admissions' as relation, run_id as row_key,
    from run_budgets
    where least(remaining_candidates, remaining_steps) < 0 and admitted > 0
),

admitted as (
    select bindings.run_id, bindings.attempt_index, bindings.attempt_id, bindings.candidate_digest,
    from bindings
    inner join admissions using (binding_id)
    where admissions.admission = 'admitted'
),

taken as (
    select 'taken' as law, 'admissions' as relation, run_id as row_key,
    from admitted
    group by run_id
    having
        count(*) > count(distinct attempt_index)
        or count(*) > count(distinct attempt_id)
        or count(*) > count(distinct candidate_digest)
),

broken as (
    select * from doubled
    union all
    select * from without_run
    union all
    select * from without_result
    union all
    select * from unbound
    union all
    select * from overspent
    union all
    select * from taken
)

select * from broken
