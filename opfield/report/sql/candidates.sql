-- Candidates: the verdict on each, and the change of the metric that the page looks at first.
-- Grain: one row for each of the first 300 candidates.
-- Means are over cases, repeats averaged inside them first; NULL is unknown. `changes` tells the fields of the
-- specification that are not the baseline's, of which there are `changed`; `changed_fields` names them alone.
with changed as (
    select
        candidate_id,
        count(*) as changed,
        list(shown(field, 80) order by field)[:12] as fields,
        list(change_in_words(field, baseline_value, candidate_value) order by field)[:12] as changes,
    from spec_changes
    group by candidate_id
)

select
    listed_candidates.position,
    listed_candidates.candidate_id,
    listed_candidates.label,
    listed_candidates.is_selected,
    shown(candidates.hypothesis, 600) as hypothesis,
    shown(candidates.optic, 200) as optic,
    coalesce(changed.changed, 0) as changed,
    array_to_string(changed.fields, ', ') || if(changed.changed > 12, format(', and {} more', changed.changed - 12), '')
        as changed_fields,
    shown(
        array_to_string(changed.changes, ', ')
        || if(changed.changed > 12, format(', and {} more', changed.changed - 12), ''),
        if(listed_candidates.is_drawn, 360, 160)
    ) as changes,
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
    comparisons.pairs < coverage.expected_pairs or comparisons.missing > 0 as is_partial,
    comparisons.cases,
    comparisons.clusters,
    comparisons.clusters < comparisons.cases as is_clustered,
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
left join changed using (candidate_id)
left join coverage using (candidate_id)
left join comparisons
    on comparisons.candidate_id = listed_candidates.candidate_id and comparisons.metric = focus.metric
where listed_candidates.arm = 'candidate'
qualify listed_candidates.is_listed
order by listed_candidates.position
