-- Tail of the sign test: P(X >= k) where X counts heads in n tosses of a fair coin. From the nearer half the
-- probability of its first count times 1 + r1 + r1 r2 + …, the ratios of neighbouring counts, as far as they matter;
-- from the other half its complement. Up to 1,100 tosses the first count comes from log-gammas, above from Loader's
-- (2000) form of it, whose terms stay small. Relative error below 1e-10 up to 100,000 tosses, for tails above 1e-290.
-- NULL for NULL, negative n and numbers that are not whole.
create macro sign_test_tail(k, n) as
    list_transform(
        [
            case when n::double >= 0 and isfinite(n::double) and floor(n::double) = n::double
                and k::double between -1e300 and 1e300 and floor(k::double) = k::double
                then {
                    'n': n::double,
                    'is_near': 2 * k::double > n::double,
                    'k': if(2 * k::double > n::double, k::double, n::double - k::double + 1),
                }
            end,
        ],
        lambda given: list_transform(
            [
                case
                    when given.k > given.n then 0e0
                    else exp(
                        case
                            when given.n <= 1100
                                then lgamma(given.n + 1) - lgamma(given.k + 1) - lgamma(given.n - given.k + 1)
                                - given.n * 0.6931471805599453e0
                            else 0.5e0 * ln(given.n / (2 * pi() * given.k * greatest(given.n - given.k, 1)))
                            + stirling_error(given.n)
                            - stirling_error(given.k)
                            - stirling_error(greatest(given.n - given.k, 1))
                            - given.k * ln(2 * given.k / given.n)
                            - (given.n - given.k) * ln(2 * greatest(given.n - given.k, 1) / given.n)
                        end
                    ) * list_reduce(
                        list_transform(
                            range(
                                least(given.n - given.k, 20 + 5 * ceil(sqrt(given.n)))::bigint - 1, -1, -1
                            )::double[],
                            lambda step: (given.n - given.k - step) / (given.k + step + 1)
                        ),
                        lambda total, ratio: 1 + ratio * total,
                        1e0
                    )
                end,
            ],
            lambda tail: if(given.is_near, tail, 1 - tail)
        )[1]
    )[1]
