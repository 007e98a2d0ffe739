-- Listed candidates: the order in which the pages speak of them, which no verdict is needed for.
-- Grain: one row for each declared candidate, the baseline included, which stands at position 0.
-- A label that several bear has the beginning of the id behind it; so has one that is not registered yet. Those that are
-- compared case by case are the one that is asked for.
with ranked as (
    select
        candidate_id,
        arm,
        shown(label, 120) as label,
        is_registered,
        row_number() over (order by arm = 'baseline' desc, label, candidate_id) - 1 as position,
        count(*) over (partition by shown(label, 120)) > 1 as is_ambiguous,
    from declared_candidates
)

select
    candidate_id,
    arm,
    case
        when not is_registered then format('{}…', replace(candidate_id, 'sha256:', '')[:12])
        when is_ambiguous then format('{} ({})', label, replace(candidate_id, 'sha256:', '')[:12])
        else label
    end as label,
    position,
    position <= 40 as is_drawn,
    coalesce(candidate_id = getvariable('asked_candidate'), false) as is_compared,
from ranked
