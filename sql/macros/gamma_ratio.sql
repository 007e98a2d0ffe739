-- Ratio of gamma functions at half a step: gamma(a + 1/2) / gamma(a). Above 20 by the difference of their Stirling
-- series about a + 1/4, which has even powers only (coefficients from Bernoulli polynomials at 1/4 and 3/4; after
-- Tricomi and Erdélyi 1951). Relative error below 1e-14. NULL for NULL and for a not above 0.
create macro gamma_ratio(a) as
    case
        when a > 20
            then sqrt(a - 0.25e0) * exp(
                1e0 / 64 / (a - 0.25e0) ** 2
                - 5e0 / 2048 / (a - 0.25e0) ** 4
                + 61e0 / 49152 / (a - 0.25e0) ** 6
                - 1385e0 / 1048576 / (a - 0.25e0) ** 8
            )
        when a > 0 then gamma(a + 0.5e0) / gamma(a)
    end
