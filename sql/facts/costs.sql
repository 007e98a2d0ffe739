-- Costs: what the accepted cells of a candidate consumed, as far as anybody saw it.
-- Grain: one row for each candidate of a campaign with accepted cells, the baseline included.
-- A sum covers the cells that know the figure; it is NULL where none does, and a lower bound where some do not. The
-- money and tokens of a cell cover all its attempts on record, its duration the accepted attempt alone.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   cells: Accepted cells.
--   known_cost_cells: Cells whose cost is known.
--   unknown_cost_cells: Cells whose cost nobody saw.
--   known_cost_usd: Cost of the cells that know it, in US dollars; NULL where none does.
--   known_token_cells: Cells that know both their input and their output tokens.
--   input_tokens: Tokens sent to models by the cells that know them; NULL where none does.
--   output_tokens: Tokens received from models by the cells that know them; NULL where none does.
--   duration_s: Seconds that the accepted attempts took; NULL where no cell knows it.
--   successes: Cells that ended in success.
--   cost_per_success_usd: Cost of all cells, failed ones included, for each success; NULL where one cell does not know
--     its cost, and where no cell succeeded.
select
    campaign_id,
    candidate_id,
    count(*) as cells,
    count(cost_usd) as known_cost_cells,
    count(*) - count(cost_usd) as unknown_cost_cells,
    fsum(cost_usd) as known_cost_usd,
    count(input_tokens + output_tokens) as known_token_cells,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    fsum(duration_s) as duration_s,
    count(*) filter (where status = 'success') as successes,
    case
        when count(cost_usd) = count(*) and count(*) filter (where status = 'success') > 0
            then fsum(cost_usd) / count(*) filter (where status = 'success')
    end as cost_per_success_usd,
from cells
group by campaign_id, candidate_id
