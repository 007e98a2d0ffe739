-- Unrankable: candidates that pass but cannot be ranked, since a mean is unknown or there are more than eight metrics.
-- Grain: one row for each such candidate; the first 100 in the page's order.
select
    listed_candidates.position,
    listed_candidates.label,
    count(*) over () as in_all,
from pareto
inner join listed_candidates using (candidate_id)
where not pareto.is_rankable
order by listed_candidates.position
limit 100
