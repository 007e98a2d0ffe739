-- One-sided p-value of a mean being at most `line` when n cases all gave one value, of a range that starts at `lower`: the
-- chance that n cases all miss the share below the value that such a mean needs. The inverse of `constant_low`.
create macro constant_tail(value, lower, n, line) as
    case
        when value <= line then 1e0
        when line < lower then 0e0
        else ((line - lower) / (value - lower)) ** n
    end
