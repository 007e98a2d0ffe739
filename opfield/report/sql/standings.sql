-- Standings: how many candidates pass, fail or are indeterminate, by the gate that decides.
-- Grain: one row for each decision, deciding gate, and whether it stands; the gate is NULL where all pass.
-- `in_decision` counts the candidates of the decision over all its gates. The example is the message of the candidate among them that stands first in the page's order.
select
    decisions.decision,
    decisions.gate,
    decisions.is_final,
    count(*) as candidates,
    (sum(count(*)) over (partition by decisions.decision))::bigint as in_decision,
    arg_min(listed_candidates.label, listed_candidates.position) as example_label,
    shown(arg_min(decisions.message, listed_candidates.position), 400) as example_message,
    arg_min(decisions.score, listed_candidates.position) as example_score,
from decisions
inner join listed_candidates using (candidate_id)
group by decisions.decision, decisions.gate, decisions.is_final
order by
    list_position(['pass', 'indeterminate', 'fail'], decisions.decision),
    candidates desc,
    decisions.gate,
    decisions.is_final
