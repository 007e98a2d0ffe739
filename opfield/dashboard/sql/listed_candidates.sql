-- Listed candidates: the order in which the pages speak of them, which no verdict is needed for.
-- Grain: one row for each declared candidate, the baseline included, which stands at position 0.
-- The one that is compared case by case is the one that is asked for.
with ranked as (
    select
        candidate_id,
        arm,
        label,
        row_number() over (order by arm = 'baseline' desc, sort_label, candidate_id) - 1 as position,
    from named_candidates
)

select
    candidate_id,
    arm,
    label,
    position,
    position <= 40 as is_drawn,
    coalesce(candidate_id = getvariable('asked_candidate'), false) as is_compared,
from ranked
