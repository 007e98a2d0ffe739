"""What the decision table asks of the views that judge a campaign."""

from __future__ import annotations

from typing import Final

DECISIONS: Final = """
select
    candidates.label as candidate,
    decisions.decision,
    decisions.gate as deciding_gate,
    comparisons.metric,
    comparisons.baseline_mean,
    comparisons.candidate_mean,
    comparisons.mean_delta as oriented_change,
    comparisons.ci_low,
    comparisons.ci_high,
    comparisons.method,
    comparisons.smallest_effect,
    comparisons.pairs,
    coverage.expected_pairs,
    coverage.complete_pairs as pairs_with_cells,
    coverage.is_whole,
    decisions.message,
    decisions.score,
    decisions.candidate_id,
from decisions
inner join campaigns using (campaign_id)
inner join candidates using (campaign_id, candidate_id)
left join coverage using (campaign_id, candidate_id)
left join comparisons
    on comparisons.campaign_id = decisions.campaign_id
    and comparisons.candidate_id = decisions.candidate_id
    -- Without a preference the metric that was declared first, as on every page.
    and comparisons.metric = coalesce(campaigns.preference, (select arg_min(metric, metric_ix) from metrics))
order by candidates.label
"""

FAILURES: Final = """
with examples as (
    select
        status,
        failure_code,
        min(failure_message) as example,
    from cells
    group by all
)
select
    failures.status,
    failures.failure_code,
    sum(failures.cells)::bigint as cells,
    min(examples.example) as example,
from failures
left join examples
    on examples.status = failures.status and examples.failure_code is not distinct from failures.failure_code
where failures.status <> 'success'
group by all
order by all
"""

#: What of the selected score is to be expected again, and whether that is less, since the best of several is lucky too.
EXPECTED: Final = """
select
    shrinkage.expected_score,
    coalesce(shrinkage.expected_score < selection.score, false) as is_lucky,
from shrinkage
inner join selection on shrinkage.candidate_id = selection.selected_id
"""

#: What an older view of comparisons does not say, and what stands for it.
OLDER: Final = (
    "comparisons.method,\n    comparisons.smallest_effect,",
    "null as method,\n    null::double as smallest_effect,",
)

CONTENDERS: Final = """
select
    label,
    difference,
    ci_low,
    ci_high,
from contenders
where not is_selected and is_separated is not true
order by difference, label
"""

#: Decisions and selection that the ledger records otherwise than the views compute them now.
DISAGREEING: Final = """
with recorded as (
    select
        type,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, if(type = 'decision.recorded', '$.decision', '$.selected')) as recorded,
    from events
    where type in ('decision.recorded', 'campaign.completed')
)
select
    if(recorded.type = 'decision.recorded', 'decision', 'selection') as figure,
    candidates.label as candidate,
    coalesce(recorded_labels.label, recorded.recorded) as recorded,
    coalesce(found_labels.label, decisions.decision) as found,
from recorded
cross join campaigns
left join decisions on recorded.type = 'decision.recorded' and decisions.candidate_id = recorded.candidate_id
left join selection on recorded.type = 'campaign.completed'
left join candidates on candidates.candidate_id = recorded.candidate_id
left join candidates as recorded_labels
    on recorded.type = 'campaign.completed' and recorded_labels.candidate_id = recorded.recorded
left join candidates as found_labels on found_labels.candidate_id = selection.selected_id
where recorded.recorded is distinct from coalesce(selection.selected_id, decisions.decision)
order by figure, candidate
"""

STRONGEST: Final = """
select
    candidates.label,
    deltas.case_id,
    deltas.repeat,
    deltas.metric,
from deltas
inner join candidates using (campaign_id, candidate_id)
where deltas.metric = coalesce($preference, deltas.metric)
order by
    deltas.candidate_id = $selected desc nulls last,
    abs(deltas.delta) desc nulls last,
    deltas.metric,
    candidates.label,
    deltas.case_id,
    deltas.repeat
limit 1
"""
