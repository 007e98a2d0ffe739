-- Upper tail of Student's t with df degrees of freedom: P(T > t). Up to 400 degrees the incomplete beta function by its
-- continued fraction, on whichever side of t² = 3 it converges. Above, with a = df - 1/2 and w² = a ln(1 + t²/df), the
-- density in w is the normal one times (y / sinh y)^1/2 where y = w²/2a, of which three terms of the power series are
-- integrated and normalized. Absolute error below 1e-13, relative below 1e-9 for tails above 1e-12. NULL for NULL, NaN,
-- df below 1 and infinite df.
create macro t_tail(t, df) as
    list_transform(
        [
            list_transform(
                [{'t': t::double, 'df': df::double}],
                lambda asked: case when not isnan(asked.t) and asked.df >= 1 and isfinite(asked.df)
                    then {
                        't': asked.t,
                        'df': asked.df,
                        'growth': log_one_plus(least(abs(asked.t), 1e150) ** 2 / asked.df),
                    }
                end
            )[1],
        ],
        lambda given: case
            when isinf(given.t) then if(given.t < 0, 1e0, 0e0)
            else if(given.t < 0, 1, 0) + if(given.t < 0, -1, 1) * t_upper(given.growth, given.df)
        end
    )[1]
