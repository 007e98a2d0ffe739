-- Whether a figure is what was stated: rounded to so many decimals, or, where the tool does not round (NULL), but for the
-- rounding of sums. NULL where the figure is unknown.
create macro is_as_stated(stated, decimals, found) as
    abs(stated - found) <= greatest(coalesce(0.5000001e0 * 10 ** (-decimals), 0), 1e-9 * greatest(1, abs(stated)))
