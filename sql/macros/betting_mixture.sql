-- Log wealth of a mixture of bets that a mean is above `line`, from values with their counts, [{'key', 'value'}] in
-- the order of the values: for each stake the product of 1 + stake (x - line) / (line - lower) over the values, then
-- the mean over the stakes. The inner part of `betting_log_wealth` and `betting_low`, which check what they are given.
create macro betting_mixture(counted, lower, line, stakes) as
    log_mean_exp(
        list_transform(
            stakes,
            lambda stake: list_aggregate(
                list_transform(
                    counted,
                    lambda each: each.value * ln(1 + stake * least((each.key - line) / (line - lower), 1e300))
                ),
                'fsum'
            )
        )
    )
