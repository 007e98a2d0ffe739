-- Evidence about a mean, as `mean_tail` takes it, seen from the other side: what it says about the negated values,
-- whose least possible one is `-upper`.
create macro negated(evidence, upper) as {
    'method': evidence.method,
    'mean': -evidence.mean,
    'standard_error': evidence.standard_error,
    'df': evidence.df,
    'cases': evidence.cases,
    'gains': evidence.losses,
    'losses': evidence.gains,
    'lower': -upper,
    'log_wealth': evidence.log_wealth
}
