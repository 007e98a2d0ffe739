-- Wholeness: arms whose projections do not hold what the ledger accepted.
-- Grain: one row for each of them; the first 20.
select
    coalesce(listed_candidates.label, integrity.candidate_id) as label,
    integrity.cells,
    count(*) over () as in_all,
from integrity
left join listed_candidates using (candidate_id)
where not integrity.is_whole
order by listed_candidates.position, integrity.candidate_id
limit 20
