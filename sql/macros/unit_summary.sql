-- Summary of units of analysis: the aggregates over rows of `case_deltas` (given as a table) that a comparison is made of.
-- `most_pairs` is the greatest number of pairs at one case.
create macro unit_summary(units) as {
    'pairs': sum(units.pairs)::bigint,
    'most_pairs': max(units.pairs),
    'cases': count(*),
    'baseline_mean': favg(units.baseline_mean),
    'candidate_mean': favg(units.candidate_mean),
    'mean_delta': favg(units.mean_delta),
    'min_delta': min(units.min_delta),
    'max_delta': max(units.max_delta)
}
