-- Described: what the candidate is that is asked for, and what of the baseline's specification it changes.
-- Grain: one row; none while it is not registered.
with changed as (
    select
        count(*) as changed,
        list(
            case
                when candidate_value is null then format('{} left out (was {})', shown(field, 80), plain(baseline_value))
                when baseline_value is null then format('{} = {} (new)', shown(field, 80), plain(candidate_value))
                else format('{} = {} (was {})', shown(field, 80), plain(candidate_value), plain(baseline_value))
            end
            order by field
        )[:12] as changes,
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
