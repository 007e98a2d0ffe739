-- Upper tail of the standard normal above `size`, which is not negative: `normal_tail` explains it.
create macro normal_upper(size) as
    case
        when size < 3
            then 0.5e0 - 0.3989422804014327e0 * exp(-size * size / 2) * size * list_reduce(
                range(40, 0, -1)::double[],
                lambda total, term: 1 + size * size / (2 * term + 1) * total,
                1e0
            )
        else 0.3989422804014327e0 * exp(-size * size / 2) / list_reduce(
            range(60, 0, -1)::double[],
            lambda rest, term: size + term / rest,
            size
        )
    end
