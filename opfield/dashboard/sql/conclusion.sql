-- Conclusion: what the campaign comes to, or what keeps it from that, and why, in words.
-- Grain: one row.
select
    conclusions.standing,
    conclusions.reason,
    shown(conclusions.message, 1000) as message,
    shown(conclusions.remedy, 1000) as remedy,
    named_candidates.label as selected,
    selection.score,
from conclusions
left join selection using (campaign_id)
left join named_candidates
    on named_candidates.candidate_id = selection.selected_id and named_candidates.arm = 'candidate'
