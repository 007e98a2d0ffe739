-- Quantile of Student's t: what T with df degrees of freedom stays below with probability p. Closed form for 1 and 2
-- degrees. Otherwise five Halley steps on `t_upper` as a function of w = (a ln(1 + t²/df))^1/2 with a = df - 1/2, in
-- which the density is nearly normal (`t_tail`); the start is Hill's (1970) first correction of the normal quantile.
-- Relative error below 1e-9 for p from 1e-8 to 1 - 1e-8. NULL for NULL, p outside (0, 1), df below 1 and infinite df.
create macro t_quantile_at(p, df) as
    list_transform(
        [
            list_transform(
                [{'p': p::double, 'df': df::double, 'z': abs(normal_quantile(p))}],
                lambda asked: case when asked.z is not null and asked.df >= 1 and isfinite(asked.df)
                    then {
                        'side': sign(asked.p - 0.5e0),
                        'tail': least(asked.p, 1 - asked.p),
                        'df': asked.df,
                        'a': asked.df - 0.5e0,
                        'start': asked.z - (asked.z ** 3 + 3 * asked.z) / (48 * (asked.df - 0.5e0) ** 2),
                        'density_at_0': gamma_ratio(asked.df / 2) / sqrt(pi() * (asked.df - 0.5e0)),
                    }
                end
            )[1],
        ],
        lambda given: given.side * case
            when given.side = 0 then 0e0
            when given.df = 1 then 1 / tan(pi() * given.tail)
            when given.df = 2 then (1 - 2 * given.tail) / sqrt(2 * given.tail * (1 - given.tail))
            else list_transform(
                [
                    list_reduce(
                        range(5)::double[],
                        lambda w, step: w + 1 / (
                            given.density_at_0 * exp(-w * w / 2)
                            * sqrt(greatest(w * w / given.a / 2, 1e-300) / sinh(greatest(w * w / given.a / 2, 1e-300)))
                            / (t_upper(w * w / given.a, given.df) - given.tail)
                            - w / 2
                        ),
                        given.start
                    ) ** 2 / given.a,
                ],
                lambda growth: sqrt(given.df * exp_minus_one(growth))
            )[1]
        end
    )[1]
