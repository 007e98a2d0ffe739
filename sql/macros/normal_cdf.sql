-- Distribution function of the standard normal: P(Z <= x), by its symmetry the tail above -x. Absolute error below
-- 1e-15. NULL for NULL and NaN.
create macro normal_cdf(x) as
    normal_tail(-(x::double))
