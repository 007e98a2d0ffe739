-- Lower score limit for a difference of paired proportions, (gains - losses) / n, by Tango (1998): the least difference
-- that a one-sided score test with the normal quantile z does not reject, the loss rate being fitted to each
-- difference. 60 halvings of [-1, the estimate]; their lower end. Error below 1e-10. NULL for NULL, n below 1, counts
-- that are negative or above n together, and z below 0 or infinite.
create macro tango_low(gains, losses, n, z) as
    list_transform(
        [{'gains': gains::double, 'losses': losses::double, 'n': n::double, 'z': z::double}],
        lambda given: case
            when given.n >= 1 and isfinite(given.n) and given.gains >= 0 and given.losses >= 0
                and given.gains + given.losses <= given.n and given.z >= 0 and isfinite(given.z)
                then list_reduce(
                    list_transform(
                        range(61),
                        lambda step: {'low': -1e0, 'high': (given.gains - given.losses) / given.n}
                    ),
                    lambda bracket, step: if(
                        given.gains - given.losses - given.n * (bracket.low + bracket.high) / 2
                        >= given.z * tango_spread(given.gains, given.losses, given.n, (bracket.low + bracket.high) / 2),
                        {'low': (bracket.low + bracket.high) / 2, 'high': bracket.high},
                        {'low': bracket.low, 'high': (bracket.low + bracket.high) / 2}
                    )
                ).low
        end
    )[1]
