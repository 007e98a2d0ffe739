-- Selection: what the campaign ends with; no row while anything is open.
-- Grain: at most one row.
select
    selected_id,
    outcome,
    score,
from selection
