-- Candidates: the verdict on each, and the change of the metric that the page looks at first.
-- Grain: one row for each of the first 300 candidates.
-- Means are over cases, repeats averaged inside them first; NULL is unknown.
select
    listed_candidates.position,
    listed_candidates.candidate_id,
    listed_candidates.label,
    listed_candidates.is_selected,
    shown(candidates.hypothesis, 600) as hypothesis,
    shown(candidates.optic, 200) as optic,
    shown(candidates.value, 400) as value,
    candidates.spec_digest,
    decisions.decision,
    decisions.is_final,
    decisions.gate,
    shown(decisions.message, 600) as message,
    decisions.score,
    coverage.expected_pairs,
    coverage.complete_pairs,
    coverage.missing_baseline,
    coverage.missing_candidate,
    coverage.not_planned,
    coverage.unexpected_cells,
    coverage.duplicate_cells,
    coverage.is_whole,
    comparisons.pairs,
    comparisons.missing,
    comparisons.cases,
    comparisons.clusters,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.mean_delta,
    comparisons.ci_low,
    comparisons.ci_high,
    comparisons.method,
    comparisons.smallest_effect,
    count(*) over () as in_all,
from listed_candidates
cross join focus
inner join decisions using (candidate_id)
left join candidates using (candidate_id)
left join coverage using (candidate_id)
left join comparisons
    on comparisons.candidate_id = listed_candidates.candidate_id and comparisons.metric = focus.metric
where listed_candidates.arm = 'candidate'
qualify listed_candidates.is_listed
order by listed_candidates.position
