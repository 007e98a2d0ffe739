-- Upper tail of Student's t where ln(1 + t²/df) is `growth` and t is not negative: `t_tail` explains it. NULL for NULL.
create macro t_upper(growth, df) as
    case
        when df > 400
            then normal_upper(sqrt((df - 0.5e0) * growth))
            + 0.3989422804014327e0 * exp(-(df - 0.5e0) * growth / 2) * sqrt((df - 0.5e0) * growth)
            * (
                (
                    ((df - 0.5e0) * growth) ** 3
                    + 7 * ((df - 0.5e0) * growth) ** 2
                    + 35 * ((df - 0.5e0) * growth)
                    + 105
                ) / (2560 * (df - 0.5e0) ** 4)
                - ((df - 0.5e0) * growth + 3) / (48 * (df - 0.5e0) ** 2)
            )
            / (1 - 1 / (16 * (df - 0.5e0) ** 2) + 21 / (512 * (df - 0.5e0) ** 4))
        when exp_minus_one(least(growth, 9)) * df > 3
            then 0.5641895835477563e0 * gamma_ratio(df / 2) * exp(-df / 2 * growth) * sqrt(-exp_minus_one(-growth)) / df
            / beta_fraction(df / 2, 0.5e0, exp(-growth))
        else 0.5e0
        - 0.5641895835477563e0 * gamma_ratio(df / 2) * exp(-df / 2 * growth) * sqrt(-exp_minus_one(-growth))
        / beta_fraction(0.5e0, df / 2, -exp_minus_one(-growth))
    end
