-- Evidence about a mean, as `mean_tail` takes it, from a `spread_of` with its squared deviations, by a method.
create macro evidence_of(how, spread, cases, clusters, noise, noise_df, lower, log_wealth) as {
    'method': how,
    'mean': spread.mean,
    'standard_error': if(
        how = 'repeats', sqrt(noise), above_rounding(standard_error(spread.squared_deviations, clusters), spread)
    ),
    'df': if(how = 'repeats', noise_df, clusters - 1),
    'cases': cases,
    'gains': spread.gains,
    'losses': spread.losses,
    'lower': lower,
    'log_wealth': log_wealth
}
