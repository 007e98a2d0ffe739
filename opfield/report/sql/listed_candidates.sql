-- Listed candidates: the order in which the page speaks of them, and how much it says of each.
-- Grain: one row for each declared candidate, the baseline included, which stands at position 0.
-- First the selected one, which only a campaign that has ended has, then those that pass, that are indeterminate and that
-- fail, each by falling score. The first 300 are listed, the first 40 drawn, and the first 4 compared case by case.
with ranked as (
    select
        named_candidates.candidate_id,
        named_candidates.arm,
        named_candidates.label,
        coalesce(
            selection.selected_id = named_candidates.candidate_id and named_candidates.arm = 'candidate'
            and campaigns.state = 'completed',
            false
        ) as is_selected,
        decisions.decision,
        row_number() over (
            order by
                named_candidates.arm = 'baseline' desc,
                coalesce(selection.selected_id = named_candidates.candidate_id, false) desc,
                list_position(['pass', 'indeterminate', 'fail'], decisions.decision),
                decisions.score desc nulls last,
                named_candidates.sort_label,
                named_candidates.candidate_id
        ) - 1 as position,
    from named_candidates
    left join decisions using (campaign_id, candidate_id)
    left join selection using (campaign_id)
    left join campaigns using (campaign_id)
)

select
    candidate_id,
    arm,
    label,
    is_selected,
    decision,
    position,
    position <= 300 as is_listed,
    position <= 40 as is_drawn,
    position between 1 and 4 as is_compared,
from ranked
