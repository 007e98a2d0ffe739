-- Lower limit of a mean by betting, for any distribution of values not below `lower`: the greatest line against which
-- `betting_log_wealth`, with as many values planned as there are, reaches 1 / alpha. The wealth falls as the line rises
-- and is at most 1 at the mean, so 20 halvings between `lower` and the mean find it; their lower end is told, at most
-- (mean - lower) / 2^20 too low and not too high but by the rounding of the wealth. `lower` where no line is refuted.
-- An upper limit is the lower one of the negated values, negated: -betting_low(-x, -upper, alpha). NULL where
-- `betting_log_wealth` is, and for alpha outside (0, 1).
create macro betting_low(sample, lower, alpha) as
    list_transform(
        [
            list_transform(
                [{'sample': sample::double[], 'lower': lower::double, 'alpha': alpha::double}],
                lambda asked: case when is_sample(asked.sample, asked.lower) and asked.alpha > 0 and asked.alpha < 1
                    then {
                        'counted': list_sort(map_entries(list_aggregate(asked.sample, 'histogram'))),
                        'lower': asked.lower,
                        'mean': list_aggregate(list_sort(asked.sample), 'favg'),
                        'goal': -ln(asked.alpha),
                        'stakes': betting_stakes(len(asked.sample)::double),
                    }
                end
            )[1],
        ],
        lambda given: list_reduce(
            list_transform(range(21), lambda step: {'low': given.lower, 'high': given.mean}),
            lambda bracket, step: if(
                (bracket.low + bracket.high) / 2 > given.lower
                and betting_mixture(given.counted, given.lower, (bracket.low + bracket.high) / 2, given.stakes)
                >= given.goal,
                {'low': (bracket.low + bracket.high) / 2, 'high': bracket.high},
                {'low': bracket.low, 'high': (bracket.low + bracket.high) / 2}
            )
        ).low
    )[1]
