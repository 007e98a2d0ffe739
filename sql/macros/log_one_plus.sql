-- Logarithm of 1 + x without losing the digits of a small x: what rounding 1 + x takes is put back as the ratio of x to
-- what was kept. NULL for NULL and for x not above -1.
create macro log_one_plus(x) as
    case
        when 1 + x = 1 then x
        when x > -1 then ln(1 + x) * (x / (1 + x - 1))
    end
