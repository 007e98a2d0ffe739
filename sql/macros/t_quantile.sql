-- Quantile .975 of Student's t: the tabulated one where there is one (t_quantiles, 1 to 200 degrees of freedom), else
-- the expansion in 1 / df about the normal quantile 1.96 (Abramowitz and Stegun 26.7.5, four terms; coefficients by
-- scripts/t_quantiles.py), whose relative error above 200 degrees of freedom is below 2e-12. NULL for df below 1.
create macro t_quantile(df, tabulated) as
    coalesce(
        tabulated,
        case when df > 200 then
            1.959963984540054e0
            + 2.372271230298562e0 / df
            + 2.822498615739611e0 / df ** 2
            + 2.555849679507722e0 / df ** 3
            + 1.5895340533938225e0 / df ** 4
        end
    )
