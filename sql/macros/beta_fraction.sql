-- Denominator of the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), folded from the
-- depth of 40 pairs of terms: I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) / beta_fraction(a, b, x). Full precision for
-- x < (a + 1) / (a + b + 2), where a or b is 1/2 and the other at most 200. NULL for NULL.
create macro beta_fraction(a, b, x) as
    1 - (a + b) * x / (a + 1) / list_reduce(
        range(40, 0, -1)::double[],
        lambda rest, m: 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        / (1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / rest),
        1e0
    )
