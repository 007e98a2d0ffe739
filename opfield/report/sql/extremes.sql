-- Extremes: the cases that gained and lost most, of the metric in focus.
-- Grain: of each of the first 4 candidates, the 5 cases with the largest gain and the 5 with the largest loss.
-- The artifacts are those of the first repeat at which an arm kept one.
with changed as (
    select
        listed_candidates.position,
        listed_candidates.label,
        listed_candidates.candidate_id,
        case_deltas.case_id,
        case_deltas.pairs,
        case_deltas.baseline_mean,
        case_deltas.candidate_mean,
        case_deltas.mean_delta,
        if(case_deltas.mean_delta > 0, 'win', 'loss') as kind,
        row_number() over (
            partition by listed_candidates.position, case_deltas.mean_delta > 0
            order by abs(case_deltas.mean_delta) desc, case_deltas.case_id
        ) as rank,
        count(*) over (partition by listed_candidates.position, case_deltas.mean_delta > 0) as alike,
    from case_deltas
    inner join listed_candidates using (candidate_id)
    inner join focus using (metric)
    where listed_candidates.is_compared and case_deltas.mean_delta <> 0
),

most as (
    select *
    from changed
    where rank <= 5
),

kept as (
    select
        cells.candidate_id,
        cells.arm,
        cells.case_id,
        arg_min(cells.artifact_id, cells.repeat) as artifact_id,
    from cells
    semi join most using (case_id)
    where cells.artifact_id is not null
    group by cells.candidate_id, cells.arm, cells.case_id
),

inputs as (
    select
        case_id,
        min(shown(input, 1500)) as input,
    from cases
    semi join most using (case_id)
    group by case_id
)

select
    most.position,
    most.label,
    most.kind,
    most.rank,
    most.alike,
    shown(most.case_id, 160) as case_id,
    most.pairs,
    most.baseline_mean,
    most.candidate_mean,
    most.mean_delta,
    inputs.input,
    baseline_kept.artifact_id as baseline_artifact,
    candidate_kept.artifact_id as candidate_artifact,
from most
left join inputs using (case_id)
left join kept as baseline_kept on baseline_kept.case_id = most.case_id and baseline_kept.arm = 'baseline'
left join kept as candidate_kept
    on candidate_kept.case_id = most.case_id and candidate_kept.candidate_id = most.candidate_id
order by most.position, most.kind desc, most.rank
