-- Lower limit of a mean by Student's t: mean - t(1 - alpha; df) times the standard error. One-sided: two limits at
-- alpha make an interval of 1 - 2 alpha. NULL for NULL, a negative or infinite standard error, and where
-- `t_quantile_at` is.
create macro t_low(mean, se, df, alpha) as
    case
        when isfinite(mean::double) and se::double >= 0 and isfinite(se::double)
            then mean::double + t_quantile_at(alpha, df) * se::double
    end
