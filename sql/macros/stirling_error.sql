-- What Stirling's formula leaves out of ln(n!): the first four terms of its series. Error below 1e-13 from n = 14.
create macro stirling_error(n) as
    1 / (12 * n::double) - 1 / (360 * n::double ** 3) + 1 / (1260 * n::double ** 5) - 1 / (1680 * n::double ** 7)
