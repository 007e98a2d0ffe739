-- Selection: what the campaign ends with, and how sure that is.
-- Grain: one row for each campaign that has ended and of which every candidate is decided; none while anything is open.
-- `expected_score` is what of the score is to be expected again: the best of several is lucky too. `is_doubtful`: the
-- interval of the selected change includes no change at all. `is_lucky`: less than the score is to be expected again.
select
    selection.outcome,
    listed_candidates.label,
    selection.score,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.ci_low,
    comparisons.ci_high,
    comparisons.method,
    comparisons.smallest_effect,
    shrinkage.expected_score,
    coalesce(comparisons.ci_low <= 0, false) as is_doubtful,
    coalesce(shrinkage.expected_score < selection.score, false) as is_lucky,
from selection
inner join campaigns on campaigns.campaign_id = selection.campaign_id and campaigns.state = 'completed'
left join listed_candidates on listed_candidates.candidate_id = selection.selected_id
left join focus on true
left join comparisons
    on comparisons.candidate_id = selection.selected_id and comparisons.metric = focus.metric
left join shrinkage
    on shrinkage.candidate_id = selection.selected_id
