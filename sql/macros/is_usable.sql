-- Usable value: finite, and at most 1e140 in magnitude, so that no sum of squares over it can overflow (1e280 times any
-- number of rows there can be). The boundary admits 1e100 unless a metric declares more; what is beyond this bound, or
-- not finite, counts as missing. NaN sorts above every number, so that the bound refuses it as well. NULL for NULL.
create macro is_usable(number) as
    number between -1e140 and 1e140
