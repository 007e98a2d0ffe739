-- A standard error, and 0 where it is no more than the rounding of what the values were computed from (`is_constant`):
-- where the deviations inside clusters cancel, their last bits must not pass for a spread.
create macro above_rounding(error, spread) as
    if(error <= 1e-13 * greatest(spread.size, abs(spread.least), abs(spread.greatest)), 0e0, error)
