-- Upper tail of the standard normal distribution: P(Z > x). Below 3 in size the series of odd powers (Abramowitz and
-- Stegun 26.2.11), from there the continued fraction of Mills' ratio (26.2.14), both folded from their last term.
-- Relative error below 1e-12 up to x = 30; 0 beyond 39. NULL for NULL and NaN.
create macro normal_tail(x) as
    list_transform(
        [x::double],
        lambda at_x: case when not isnan(at_x)
            then if(at_x < 0, 1, 0) + if(at_x < 0, -1, 1) * normal_upper(least(abs(at_x), 1e3))
        end
    )[1]
