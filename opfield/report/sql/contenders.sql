-- Contenders: passing candidates that the evidence cannot tell from what the campaign ends with.
-- Grain: one row for each of them, the nearest first; at most 20.
select
    listed_candidates.label,
    contenders.difference,
    contenders.ci_low,
    contenders.ci_high,
    count(*) over () as in_all,
from contenders
inner join listed_candidates using (candidate_id)
where not contenders.is_selected and contenders.is_separated is not true
order by contenders.difference nulls last, listed_candidates.position
limit 20
