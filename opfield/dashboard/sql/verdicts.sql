-- Verdicts: what the policy says of each candidate, and how far the metric in focus changed.
-- Grain: one row for each declared candidate; the selected one first, then those that pass, that are indeterminate and
-- that fail, each by falling score.
select
    row_number() over (
        order by
            coalesce(selection.selected_id = decisions.candidate_id, false) desc,
            list_position(['pass', 'indeterminate', 'fail'], decisions.decision),
            decisions.score desc nulls last,
            decisions.label,
            decisions.candidate_id
    ) as position,
    decisions.candidate_id,
    named_candidates.label,
    coalesce(selection.selected_id = decisions.candidate_id, false) as is_selected,
    decisions.decision,
    decisions.is_final,
    shown(decisions.gate, 120) as gate,
    shown(decisions.message, 600) as message,
    decisions.score,
    coverage.expected_pairs,
    coverage.complete_pairs,
    coverage.is_whole,
    comparisons.metric,
    comparisons.pairs,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.mean_delta,
    comparisons.ci_low,
    comparisons.ci_high,
from decisions
inner join named_candidates using (campaign_id, candidate_id)
cross join focus
left join selection using (campaign_id)
left join coverage
    on coverage.campaign_id = decisions.campaign_id and coverage.candidate_id = decisions.candidate_id
left join comparisons
    on comparisons.campaign_id = decisions.campaign_id
    and comparisons.candidate_id = decisions.candidate_id
    and comparisons.metric = focus.metric
order by position
