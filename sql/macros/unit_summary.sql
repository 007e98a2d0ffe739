-- Summary of units of analysis: the aggregates over rows of `case_deltas` (given as a table, with the cluster of each
-- case, NULL where it is its own, and its noise) that a comparison is made of. `most_pairs` is the greatest number of
-- pairs at one case; noise and its degrees of freedom are those of the mean, as in `unit_summaries`.
create macro unit_summary(units) as {
    'pairs': sum(units.pairs)::bigint,
    'most_pairs': max(units.pairs),
    'cases': count(*),
    'clusters': count(*) - count(units.cluster_id) + count(distinct units.cluster_id),
    'baseline_mean': favg(units.baseline_mean),
    'candidate_mean': favg(units.candidate_mean),
    'min_delta': min(units.min_delta),
    'max_delta': max(units.max_delta),
    'spread': spread_of(units.mean_delta, greatest(abs(units.baseline_mean), abs(units.candidate_mean))),
    'noise': if(count(units.noise) = count(*), fsum(units.noise) / count(*) ** 2, null),
    'noise_df': floor(fsum(units.noise) ** 2 / nullif(fsum(units.noise ** 2 / units.noise_df), 0) + 1e-9)
}
