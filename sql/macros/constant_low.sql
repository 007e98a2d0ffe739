-- Lower limit for a mean when n cases all gave one value: were the mean lower than the limit, at least the share
-- 1 - alpha^(1/n) of cases would lie below the value, down to the lower end of the range, and n cases would miss them
-- all with a probability below alpha. NULL for NULL (a range without a lower end), a value below the range, n below 1,
-- and alpha outside (0, 1).
create macro constant_low(value, lower, n, alpha) as
    case
        when value::double >= lower::double and isfinite(value::double) and isfinite(lower::double)
            and n::double >= 1 and isfinite(n::double) and alpha::double > 0 and alpha::double < 1
            then value::double - (value::double - lower::double) * (1 - alpha::double ** (1 / n::double))
    end
