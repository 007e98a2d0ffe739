-- Records: what the ledger recorded as decided, beside what the views find now, where the two differ.
-- Grain: one row for each candidate whose recorded decision is not the one found, and one where the selection is not;
-- at most 60. None while nothing is recorded.
with decided as (
    select
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.decision') as decision,
    from events
    where type = 'decision.recorded'
),

completed as (
    select
        json_extract_string(payload, '$.selected') as selected_id,
        json_extract_string(payload, '$.outcome') as outcome,
    from events
    where type = 'campaign.completed'
),

compared as (
    select
        'decision' as figure,
        listed_candidates.position,
        coalesce(listed_candidates.label, decided.candidate_id) as label,
        decided.decision as recorded,
        decisions.decision as found,
    from decided
    left join decisions using (candidate_id)
    left join listed_candidates using (candidate_id)
    where decided.decision is distinct from decisions.decision

    union all

    select
        'selection' as figure,
        0 as position,
        null as label,
        format('{}: {}', completed.outcome, coalesce(recorded_candidate.label, completed.selected_id)) as recorded,
        format('{}: {}', selection.outcome, found_candidate.label) as found,
    from completed
    left join selection on true
    left join listed_candidates as recorded_candidate on recorded_candidate.candidate_id = completed.selected_id
    left join listed_candidates as found_candidate on found_candidate.candidate_id = selection.selected_id
    where completed.selected_id is distinct from selection.selected_id
        or completed.outcome is distinct from selection.outcome
)

select
    figure,
    label,
    recorded,
    found,
    count(*) over () as in_all,
from compared
order by figure desc, position, label
limit 60
