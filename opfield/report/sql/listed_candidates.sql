-- Listed candidates: the order in which the page speaks of them, and how much it says of each.
-- Grain: one row for each declared candidate, the baseline included, which stands at position 0.
-- First the selected one, then those that pass, that are indeterminate and that fail, each by falling score. A label that
-- several bear has the beginning of the id behind it. The first 300 are listed, the first 40 drawn, and the first 4
-- compared case by case.
with ranked as (
    select
        declared_candidates.candidate_id,
        declared_candidates.arm,
        shown(declared_candidates.label, 120) as label,
        coalesce(selection.selected_id = declared_candidates.candidate_id and declared_candidates.arm = 'candidate', false)
            as is_selected,
        decisions.decision,
        row_number() over (
            order by
                declared_candidates.arm = 'baseline' desc,
                coalesce(selection.selected_id = declared_candidates.candidate_id, false) desc,
                list_position(['pass', 'indeterminate', 'fail'], decisions.decision),
                decisions.score desc nulls last,
                declared_candidates.label,
                declared_candidates.candidate_id
        ) - 1 as position,
        count(*) over (partition by shown(declared_candidates.label, 120)) > 1 as is_ambiguous,
    from declared_candidates
    left join decisions using (campaign_id, candidate_id)
    left join selection using (campaign_id)
)

select
    candidate_id,
    arm,
    if(is_ambiguous, format('{} ({})', label, candidate_id[8:19]), label) as label,
    is_selected,
    decision,
    position,
    position <= 300 as is_listed,
    position <= 40 as is_drawn,
    position between 1 and 4 as is_compared,
from ranked
