-- Log wealth of each stake before each run of values, from the runs' own, a list over runs of lists over stakes: the
-- sum over the runs before it, 0 before the first. The inner part of `betting_wealth_path`.
create macro wealth_before(totals) as
    list_transform(
        [
            list_transform(
                list_transform(range(1, len(totals[1]) + 1), lambda stake: list_transform(totals, lambda total: total[stake])),
                lambda own: list_transform(
                    range(len(own)), lambda before: coalesce(list_aggregate(own[:before], 'fsum'), 0e0)
                )
            ),
        ],
        lambda sums: list_transform(
            range(1, len(sums[1]) + 1), lambda run: list_transform(sums, lambda stake: stake[run])
        )
    )[1]
