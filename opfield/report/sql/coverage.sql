-- Coverage: the declared cells of each arm along the cases, and what became of them.
-- Grain: one row for the baseline and each of the first 40 candidates, and each of at most 48 bins of cases.
-- Cases stand in declared order, those that a sequential gate took out of the plan left out. `class` is what most of the
-- cells that are not whole are, or success; a cell that is not there is missing.
with numbered as (
    select
        cases.case_id,
        row_number() over (order by cases.case_ix, cases.case_id) - 1 as case_ix,
        count(*) over () as cases,
    from cases
    inner join planned_cases using (case_id)
),

binned as (
    select
        case_id,
        case_ix,
        (case_ix * least(cases, 48)) // cases as bin,
    from numbered
),

bins as (
    select
        bin,
        count(*) as cases,
        shown(arg_min(case_id, case_ix), 80) as first_case,
        shown(arg_max(case_id, case_ix), 80) as last_case,
    from binned
    group by bin
),

declared as (
    select
        listed_candidates.position,
        listed_candidates.label,
        binned.bin,
        sum(declared_repeats.repeats)::bigint as cells,
    from declared_repeats
    inner join listed_candidates using (candidate_id)
    inner join binned using (case_id)
    where listed_candidates.is_drawn
    group by listed_candidates.position, listed_candidates.label, binned.bin
),

found as (
    select
        listed_candidates.position,
        binned.bin,
        count(distinct (cells.case_id, cells.repeat)) as found,
        count(*) filter (where cells.status = 'success') as success,
        count(*) filter (where cells.status = 'domain_failure') as domain_failure,
        count(*) filter (where cells.status = 'infrastructure_failure') as infrastructure_failure,
        count(*) filter (where cells.status = 'cancelled') as cancelled,
    from cells
    inner join listed_candidates using (candidate_id)
    inner join binned using (case_id)
    inner join declared_repeats
        on declared_repeats.candidate_id = cells.candidate_id
        and declared_repeats.case_id = cells.case_id
        and cells.repeat < declared_repeats.repeats
    where listed_candidates.is_drawn
    group by listed_candidates.position, binned.bin
),

counted as (
    select
        declared.position,
        declared.label,
        declared.bin,
        declared.cells,
        coalesce(found.success, 0) as success,
        coalesce(found.domain_failure, 0) as domain_failure,
        coalesce(found.infrastructure_failure, 0) as infrastructure_failure,
        coalesce(found.cancelled, 0) as cancelled,
        declared.cells - coalesce(found.found, 0) as missing,
    from declared
    left join found using (position, bin)
),

classed as (
    select
        *,
        greatest(domain_failure, infrastructure_failure, cancelled, missing) as most,
        domain_failure + infrastructure_failure + cancelled + missing as affected,
    from counted
)

select
    classed.position,
    classed.label,
    classed.bin,
    if(
        bins.cases = 1,
        bins.first_case,
        format('{} … {} ({} cases)', bins.first_case, bins.last_case, bins.cases)
    ) as cases,
    bins.cases as column_cases,
    classed.cells,
    case
        when classed.affected = 0 then 'success'
        when classed.domain_failure = classed.most then 'domain_failure'
        when classed.infrastructure_failure = classed.most then 'infrastructure_failure'
        when classed.missing = classed.most then 'missing'
        else 'cancelled'
    end as class,
    if(classed.affected = 0, classed.success, classed.affected) as affected,
    classed.domain_failure,
    classed.infrastructure_failure,
    classed.cancelled,
    classed.missing,
from classed
inner join bins using (bin)
order by classed.position, classed.bin
