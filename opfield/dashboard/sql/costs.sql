-- Costs: what cells consumed, as far as anybody saw it.
-- Grain: one row for the baseline and each candidate with accepted cells, in the pages' order.
-- A sum covers the cells that know the figure: NULL where none does, a lower bound where some do not.
select
    listed_candidates.position,
    listed_candidates.label,
    costs.cells,
    costs.known_cost_cells,
    costs.known_cost_usd,
    costs.cost_per_success_usd,
    costs.known_token_cells,
    costs.input_tokens::bigint as input_tokens,
    costs.output_tokens::bigint as output_tokens,
    costs.duration_s,
from costs
inner join listed_candidates using (candidate_id)
order by listed_candidates.position
