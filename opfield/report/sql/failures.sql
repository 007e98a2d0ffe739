-- Failures: accepted cells that did not succeed, and why.
-- Grain: one row for each candidate (the baseline included), status and failure code; the 200 with the most cells.
with examples as (
    select
        candidate_id,
        status,
        failure_code,
        min(shown(failure_message, 300)) as example,
    from cells
    where status <> 'success'
    group by candidate_id, status, failure_code
)

select
    listed_candidates.position,
    listed_candidates.label,
    failures.status,
    shown(failures.failure_code, 120) as failure_code,
    failures.cells,
    examples.example,
    count(*) over () as in_all,
from failures
inner join listed_candidates using (candidate_id)
left join examples
    on examples.candidate_id = failures.candidate_id
    and examples.status = failures.status
    and examples.failure_code is not distinct from failures.failure_code
order by failures.cells desc, listed_candidates.position, failures.status, failures.failure_code
limit 200
