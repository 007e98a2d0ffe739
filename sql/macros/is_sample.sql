-- Whether a list is a sample that bets can be made on: not empty, every value known, finite and at least `lower`, which
-- is finite. NULL for NULL.
create macro is_sample(sample, lower) as
    len(sample) > 0 and list_count(sample) = len(sample) and isfinite(lower)
    and isfinite(list_max(sample)) and list_min(sample) >= lower
