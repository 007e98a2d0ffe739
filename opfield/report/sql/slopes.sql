-- Slopes: from the baseline's value to the candidate's, case by case, of the metric in focus.
-- Grain: of each of the first 4 candidates, one row for each pair of values where there are at most 60 cases, else one for
-- each group of cases whose values on either arm lie in the same tenth of the range, and that got better, worse or
-- neither. Such a group stands in the middle of its tenths.
with found as (
    select
        listed_candidates.position,
        listed_candidates.label,
        case_deltas.case_id,
        case_deltas.baseline_mean,
        case_deltas.candidate_mean,
        case
            when case_deltas.mean_delta > 0 then 'better'
            when case_deltas.mean_delta < 0 then 'worse'
            else 'same'
        end as outcome,
    from case_deltas
    inner join listed_candidates using (candidate_id)
    inner join focus using (metric)
    where listed_candidates.is_compared
),

ranges as (
    select
        position,
        count(*) as cases,
        least(min(baseline_mean), min(candidate_mean)) as low,
        greatest(max(baseline_mean), max(candidate_mean)) as high,
    from found
    group by position
),

placed as (
    select
        found.*,
        ranges.cases > 60 as is_grouped,
        ranges.low,
        (ranges.high - ranges.low) / 10 as step,
    from found
    inner join ranges using (position)
),

tenths as (
    select
        *,
        if(is_grouped and step > 0, least(floor((baseline_mean - low) / step), 9), null) as baseline_tenth,
        if(is_grouped and step > 0, least(floor((candidate_mean - low) / step), 9), null) as candidate_tenth,
    from placed
),

valued as (
    select
        position,
        label,
        outcome,
        case_id,
        if(baseline_tenth is null, baseline_mean, low + step * (baseline_tenth + 0.5)) as baseline_value,
        if(candidate_tenth is null, candidate_mean, low + step * (candidate_tenth + 0.5)) as candidate_value,
    from tenths
),

grouped as (
    select
        position,
        label,
        outcome,
        baseline_value,
        candidate_value,
        count(*) as cases,
        min(case_id) as first_case,
    from valued
    group by position, label, outcome, baseline_value, candidate_value
)

select
    position,
    label,
    outcome,
    if(cases = 1, shown(first_case, 80), format('{} cases', cases)) as case,
    cases,
    baseline_value,
    candidate_value,
from grouped
order by position, outcome, baseline_value, candidate_value
