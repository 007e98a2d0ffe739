-- Log wealth of bets that a mean is above `line`, on values that cannot be below `lower`: the mean over fixed stakes of
-- the product of 1 + stake (x - line), each stake below 1 / (line - lower). Whatever the distribution, the expected
-- wealth is at most 1 while the mean is at most `line`, so that exp of it is an e-value, and 1 / alpha is reached with
-- a probability of at most alpha (betting martingales of Waudby-Smith and Ramdas 2024, mixed over stakes). The stakes
-- are `betting_stakes` of `n_hint`, the number of values that was planned. Folded in the order of the values, so that
-- the order of the list changes no bit. NULL for NULL, an empty list, an unknown, infinite or too low value, and a line
-- not above `lower`.
create macro betting_log_wealth(sample, lower, line, n_hint) as
    list_transform(
        [
            list_transform(
                [{'sample': sample::double[], 'lower': lower::double, 'line': line::double, 'n': n_hint::double}],
                lambda asked: case
                    when is_sample(asked.sample, asked.lower) and asked.line > asked.lower
                        and isfinite(asked.line - asked.lower) and asked.n >= 1 and isfinite(asked.n)
                        then {
                            'counted': list_sort(map_entries(list_aggregate(asked.sample, 'histogram'))),
                            'lower': asked.lower,
                            'line': asked.line,
                            'stakes': betting_stakes(asked.n),
                        }
                end
            )[1],
        ],
        lambda given: betting_mixture(given.counted, given.lower, given.line, given.stakes)
    )[1]
