-- What a comparison says: a `unit_summary` beside the number of pairs declared, with the standard error and the
-- two-sided 95 % interval about the mean delta by the method that the declarations ask for, and the smallest effect
-- that such evidence would have shown with a power of .8. `evidence` is that of `mean_low`; `t_alpha` and `t_power` are
-- quantiles of Student's t at its degrees of freedom. NULL is unknown; where the projections are not whole everything
-- is.
create macro comparison_of(is_whole, expected_pairs, summary, evidence, upper, t_alpha, t_power) as {
    'is_whole': is_whole,
    'pairs': if(is_whole, coalesce(summary.pairs, 0), null),
    'missing': if(is_whole, expected_pairs - coalesce(summary.pairs, 0), null),
    'cases': if(is_whole, coalesce(summary.cases, 0), null),
    'clusters': if(is_whole, coalesce(summary.clusters, 0), null),
    'baseline_mean': if(is_whole, summary.baseline_mean, null),
    'candidate_mean': if(is_whole, summary.candidate_mean, null),
    'mean_delta': if(is_whole, summary.spread.mean, null),
    'min_delta': if(is_whole, summary.min_delta, null),
    'max_delta': if(is_whole, summary.max_delta, null),
    'method': if(is_whole, evidence.method, null),
    'standard_error': if(is_whole, evidence.standard_error, null),
    'ci_low': if(is_whole, mean_low(evidence, 0.025e0, t_alpha, null::double), null),
    'ci_high': if(is_whole, -mean_low(negated(evidence, upper), 0.025e0, t_alpha, null::double), null),
    'smallest_effect': if(is_whole, (t_alpha + t_power) * nullif(evidence.standard_error, 0), null)
}
