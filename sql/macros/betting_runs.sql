-- Log wealth of each of eight stakes within runs of 40 values, after every value of the run: a list over runs of lists
-- over stakes of lists over values. The inner part of `betting_wealth_path`, which checks what it is given. A run ends
-- where the copies of its beginnings would cost more than the sums over the runs before it.
create macro betting_runs(sample, lower, line) as
    list_transform(
        list_transform(
            range(0, len(sample), 40),
            lambda start: list_transform(
                sample[start + 1:start + 40],
                lambda value: least((value - line) / (line - lower), 1e300)
            )
        ),
        lambda shares: list_transform(
            range(8),
            lambda step: list_transform(
                [list_transform(shares, lambda share: ln(1 + 0.03e0 * (0.98e0 / 0.03e0) ** (step / 7e0) * share))],
                lambda gains: list_transform(
                    range(1, len(gains) + 1), lambda count: list_aggregate(gains[:count], 'fsum')
                )
            )[1]
        )
    )
