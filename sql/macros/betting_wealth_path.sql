-- Log wealth of bets as in `betting_log_wealth`, after each value of a list in its order, for looking at any time:
-- while the mean is at most `line` the wealth ever reaches 1 / alpha with a probability of at most alpha (Ville's
-- inequality), where the order was fixed beforehand. Eight stakes from .03 to .98 of the largest in geometric
-- progression, the same for every number of values: the path of the first values is the beginning of the whole path.
-- NULL where `betting_log_wealth` is.
create macro betting_wealth_path(sample, lower, line) as
    list_transform(
        [
            list_transform(
                [{'sample': sample::double[], 'lower': lower::double, 'line': line::double}],
                lambda asked: case
                    when is_sample(asked.sample, asked.lower) and asked.line > asked.lower
                        and isfinite(asked.line - asked.lower)
                        then betting_runs(asked.sample, asked.lower, asked.line)
                end
            )[1],
        ],
        lambda runs: case when runs is not null
            then flatten(
                list_transform(
                    list_zip(
                        runs,
                        wealth_before(list_transform(runs, lambda run: list_transform(run, lambda path: path[-1])))
                    ),
                    lambda pair: list_transform(
                        range(1, len(pair[1][1]) + 1),
                        lambda ix: log_mean_exp(
                            list_transform(list_zip(pair[1], pair[2]), lambda stake: stake[1][ix] + stake[2])
                        )
                    )
                )
            )
        end
    )[1]
