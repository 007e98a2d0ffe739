-- What a verdict says about an inferred mean: estimate, interval, units and method, or why there is none.
create macro inference_message(what, inference) as
    if(
        inference.problem is not null,
        inference.problem,
        format(
            '{} is {}, at a one-sided {:.6g} between {} and {} ({} over {} units)',
            what,
            in_words(inference.estimate),
            inference.alpha,
            coalesce(in_words_or_none(inference.low), 'no bound'),
            coalesce(in_words_or_none(inference.high), 'no bound'),
            method_in_words(inference.method),
            inference.clusters
        ) || if(inference.missing > 0, format(', missing: {}, at their worst and best', inference.missing), '')
    )
