-- Probability that k draws without replacement from n tries, of which `successes` succeeded, all succeeded: pass^k, the
-- unbiased estimate C(successes, k) / C(n, k) of the chance that k tries in a row succeed. NULL where n is below k.
create macro pass_hat(successes, n, k) as
    case
        when k >= 1 and n >= k
            then list_reduce(
                list_transform(range(k::bigint), lambda i: greatest(successes - i, 0)::double / (n - i)),
                lambda product, factor: product * factor,
                1e0
            )
    end
