-- Stakes of the betting tests of n values, as shares of the largest stake that cannot go bankrupt: eight in geometric
-- progression up to .98, from 3 / sqrt(n) or .7, whichever is less. The best stake against a mean that n values can
-- just tell is about 2.7 / sqrt(n) times (line - lower) over the standard deviation. A function of n alone: stakes
-- chosen after the data would prove nothing. NULL for NULL and n below 1.
create macro betting_stakes(n) as
    case when n >= 1
        then list_transform(
            range(8),
            lambda step: least(0.7e0, 3 / sqrt(n)) * (0.98e0 / least(0.7e0, 3 / sqrt(n))) ** (step / 7e0)
        )
    end
