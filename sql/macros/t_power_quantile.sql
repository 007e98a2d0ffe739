-- Quantile .8 of Student's t: the tabulated one where there is one (t_quantiles), else the expansion of `t_quantile`
-- about the normal quantile 0.84. NULL for df below 1.
create macro t_power_quantile(df, tabulated) as
    coalesce(
        tabulated,
        case when df > 200 then
            0.8416212335729143e0
            + 0.3594409221562544e0 / df
            + 0.1476506237629083e0 / df ** 2
            + 0.016745854751890346e0 / df ** 3
            - 0.011559163026144155e0 / df ** 4
        end
    )
