-- Failures: accepted cells that did not succeed, and why.
-- Grain: one row for each status and failure code, the most frequent first; the first 100.
with found as (
    select
        status,
        shown(failure_code, 120) as failure_code,
        count(*) as cells,
        count(distinct candidate_id) as arms,
        count(distinct case_id) as cases,
        min(shown(failure_message, 300)) as example,
        arg_min(case_id, sequence) as first_case,
    from cells
    where status <> 'success'
    group by status, failure_code
)

select
    *,
    shown(first_case, 80) as first_case_shown,
    count(*) over () as in_all,
from found
order by cells desc, status, failure_code
limit 100
