-- Described: what the candidate is that is asked for, and what of the baseline's specification it changes.
-- Grain: one row; none while it is not registered.
with changed as (
    select
        count(*) as changed,
        list(change_in_words(field, baseline_value, candidate_value) order by field)[:12] as changes,
    from spec_changes
    where candidate_id = getvariable('asked_candidate')
)

select
    shown(candidates.hypothesis, 600) as hypothesis,
    shown(array_to_string(changed.changes, ', '), 1000)
    || if(changed.changed > 12, format(', and {} more', changed.changed - 12), '') as changes,
    candidates.spec_digest,
    candidates.is_baseline,
from candidates
cross join changed
where candidates.candidate_id = getvariable('asked_candidate')
limit 1
