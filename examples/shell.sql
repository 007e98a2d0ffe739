-- The views in a plain DuckDB shell (1.5 or newer), without Python. Standing in the warehouse folder:
--     duckdb -init open.sql < shell.sql
-- `set variable campaign = '<64 hex digits>'` before open.sql is read reads one campaign only.

-- Who was selected, and by how much.
select
    campaigns.name,
    campaigns.outcome,
    candidates.label as selected,
    selection.score,
from campaigns
left join selection using (campaign_id)
left join candidates
    on candidates.campaign_id = campaigns.campaign_id and candidates.candidate_id = selection.selected_id
order by campaigns.started_at, campaigns.campaign_id;

-- How every candidate stands at every gate.
select
    decisions.label,
    gate_results.name as gate,
    gate_results.status,
    gate_results.is_reached,
    gate_results.message,
from gate_results
inner join decisions using (campaign_id, candidate_id)
order by decisions.campaign_id, decisions.label, gate_results.gate_ix;

-- What a view means stands beside it.
select column_name, comment
from duckdb_columns()
where table_name = 'decisions'
order by column_index;

-- And away it goes, as a file for another tool.
copy (from comparisons order by all) to '/dev/stdout' (format csv, header);
