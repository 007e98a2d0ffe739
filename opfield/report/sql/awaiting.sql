-- Awaiting: candidates that only a person can decide now.
-- Grain: one row for each of them; the first 100 in the page's order.
select
    listed_candidates.label,
    shown(awaiting_reviews.gate, 200) as gate,
    awaiting_reviews.approvals,
    awaiting_reviews.needed,
    count(*) over () as in_all,
from awaiting_reviews
inner join listed_candidates using (candidate_id)
order by listed_candidates.position
limit 100
