-- What a comparison says: a `unit_summary` beside the number of pairs declared, with the standard error and the two-sided
-- 95 % t interval about the mean delta. NULL is unknown; where the projections are not whole everything is.
create macro comparison_of(is_whole, expected_pairs, summary, squared_deviations, tabulated_quantile) as {
    'is_whole': is_whole,
    'pairs': if(is_whole, coalesce(summary.pairs, 0), null),
    'missing': if(is_whole, expected_pairs - coalesce(summary.pairs, 0), null),
    'cases': if(is_whole, coalesce(summary.cases, 0), null),
    'baseline_mean': if(is_whole, summary.baseline_mean, null),
    'candidate_mean': if(is_whole, summary.candidate_mean, null),
    'mean_delta': if(is_whole, summary.mean_delta, null),
    'min_delta': if(is_whole, summary.min_delta, null),
    'max_delta': if(is_whole, summary.max_delta, null),
    'standard_error': if(is_whole, standard_error(squared_deviations, summary.cases), null),
    'ci_low': if(
        is_whole,
        summary.mean_delta
        - t_quantile(summary.cases - 1, tabulated_quantile) * standard_error(squared_deviations, summary.cases),
        null
    ),
    'ci_high': if(
        is_whole,
        summary.mean_delta
        + t_quantile(summary.cases - 1, tabulated_quantile) * standard_error(squared_deviations, summary.cases),
        null
    )
}
