-- Standard error of a mean over independent units: sd / sqrt(n), from the sum of squared deviations about that mean
-- (two-pass). NULL for fewer than two units, about whose spread nothing is known.
create macro standard_error(squared_deviations, units) as
    case when units > 1 then sqrt(squared_deviations / (units - 1) / units) end
