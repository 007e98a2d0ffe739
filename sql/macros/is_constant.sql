-- Whether all values of a `spread_of` are one, up to the rounding of what they were computed from: 1e-13 of its
-- magnitude, so that the last bits of a subtraction do not pass for a spread.
create macro is_constant(spread) as
    spread.greatest - spread.least <= 1e-13 * greatest(spread.size, abs(spread.least), abs(spread.greatest))
