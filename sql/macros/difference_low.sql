-- Lower limit of a mean difference, one-sided at level `alpha`: `quantile` standard errors below the mean. Where all
-- differences are one value (`is_constant`) no spread can be estimated; there `constant_low` gives the limit, from the
-- lowest value that a difference can take and the number of clusters, each being one observation. The upper limit is
-- -difference_low(-mean, …, -highest, …). NULL for fewer than two clusters, for clusters that cancel out to no spread
-- at all, and where it takes what is unknown.
create macro difference_low(mean, standard_error, quantile, are_constant, lowest, clusters, alpha) as
    case
        when clusters < 2 then null
        when are_constant then constant_low(mean, lowest, clusters, alpha)
        else mean - quantile * nullif(standard_error, 0)
    end
