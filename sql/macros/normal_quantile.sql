-- Quantile of the standard normal: what Z stays below with probability p. Rational approximations by Wichura (1988,
-- Algorithm AS 241, PPND16), in the centre and in two reaches of the nearer tail; relative error about 1e-15. NULL for
-- NULL and for p outside (0, 1).
create macro normal_quantile(p) as
    list_transform(
        [
            list_transform(
                [p::double],
                lambda chance: case when chance > 0 and chance < 1
                    then {
                        'offset': chance - 0.5e0,
                        'square': 0.180625e0 - (chance - 0.5e0) * (chance - 0.5e0),
                        'root': sqrt(-ln(least(chance, 1 - chance))),
                    }
                end
            )[1],
        ],
        lambda given: case
            when abs(given.offset) <= 0.425e0
                then given.offset
                * list_reduce(
                    [
                        2509.0809287301226727e0, 33430.575583588128105e0, 67265.770927008700853e0,
                        45921.953931549871457e0, 13731.693765509461125e0, 1971.5909503065514427e0,
                        133.14166789178437745e0, 3.387132872796366608e0,
                    ],
                    lambda total, next: total * given.square + next
                )
                / list_reduce(
                    [
                        5226.495278852854561e0, 28729.085735721942674e0, 39307.89580009271061e0,
                        21213.794301586595867e0, 5394.1960214247511077e0, 687.1870074920579083e0,
                        42.313330701600911252e0, 1e0,
                    ],
                    lambda total, next: total * given.square + next
                )
            when given.root <= 5
                then sign(given.offset)
                * list_reduce(
                    [
                        7.7454501427834140764e-4, 0.0227238449892691845833e0, 0.24178072517745061177e0,
                        1.27045825245236838258e0, 3.64784832476320460504e0, 5.7694972214606914055e0,
                        4.6303378461565452959e0, 1.42343711074968357734e0,
                    ],
                    lambda total, next: total * (given.root - 1.6e0) + next
                )
                / list_reduce(
                    [
                        1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966e0,
                        0.14810397642748007459e0, 0.68976733498510000455e0, 1.6763848301838038494e0,
                        2.05319162663775882187e0, 1e0,
                    ],
                    lambda total, next: total * (given.root - 1.6e0) + next
                )
            else sign(given.offset)
            * list_reduce(
                [
                    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386e0,
                    0.026532189526576123093e0, 0.29656057182850489123e0, 1.7848265399172913358e0,
                    5.4637849111641143699e0, 6.6579046435011037772e0,
                ],
                lambda total, next: total * (given.root - 5) + next
            )
            / list_reduce(
                [
                    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
                    7.868691311456132591e-4, 0.0148753612908506148525e0, 0.13692988092273580531e0,
                    0.59983220655588793769e0, 1e0,
                ],
                lambda total, next: total * (given.root - 5) + next
            )
        end
    )[1]
