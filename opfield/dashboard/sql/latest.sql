-- Latest: the cells that were accepted last.
-- Grain: one row for each of the last 10, the newest first.
select
    cells.sequence,
    listed_candidates.candidate_id,
    coalesce(listed_candidates.label, shown(cells.candidate_id, 40)) as label,
    cells.case_id,
    shown(cells.case_id, 80) as case_shown,
    cells.repeat,
    cells.status,
    shown(cells.failure_code, 80) as failure_code,
    cells.duration_s,
    cells.cost_usd,
    cells.finished_at,
from cells
left join listed_candidates using (candidate_id)
order by cells.sequence desc
limit 10
