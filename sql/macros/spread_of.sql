-- What a row of units says about its mean, one struct for a fill of its missing values: the aggregates over `x`, the
-- value of each unit. `size` is the magnitude of what the values were computed from, against which rounding is
-- measured. NULL where a value is unknown.
create macro spread_of(x, magnitude) as
    case when count(x) = count(*) then {
        'mean': favg(x),
        'least': min(x),
        'greatest': max(x),
        'gains': count(*) filter (where x > 0),
        'losses': count(*) filter (where x < 0),
        'size': max(magnitude)
    } end
