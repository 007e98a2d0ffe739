-- Smallest effect that a one-sided test at level alpha over so many units finds with the given power, the minimum
-- detectable effect: (t(1 - alpha) + t(power)) times the standard error, both with units - 1 degrees of freedom; within
-- 0.2 % of the noncentral t at 10 units. NULL for NULL, a negative or infinite standard error, and fewer than two
-- units.
create macro smallest_effect(standard_error, units, alpha, power) as
    case
        when standard_error::double >= 0 and isfinite(standard_error::double)
            then (t_quantile_at(power, units - 1) - t_quantile_at(alpha, units - 1)) * standard_error::double
    end
