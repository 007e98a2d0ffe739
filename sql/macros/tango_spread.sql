-- Standard deviation of gains - losses where the true difference of proportions is `difference`, by Tango (1998): the
-- loss rate is the one most likely under that difference, the larger root of 2n q² + b q + c with
-- b = (2n - gains + losses) difference - gains - losses and c = -losses difference (1 - difference).
create macro tango_spread(gains, losses, n, difference) as
    sqrt(
        n * greatest(
            (
                sqrt(
                    greatest(
                        ((2 * n - gains + losses) * difference - gains - losses) ** 2
                        + 8 * n * losses * difference * (1 - difference),
                        0
                    )
                )
                - ((2 * n - gains + losses) * difference - gains - losses)
            ) / (2 * n)
            + difference * (1 - difference),
            0
        )
    )
