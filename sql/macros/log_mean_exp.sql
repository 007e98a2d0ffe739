-- Logarithm of the mean of numbers given by their logarithms, from the largest one, so that nothing overflows; added in
-- the list's order. NULL for NULL and for an empty list.
create macro log_mean_exp(logarithms) as
    list_transform(
        [logarithms],
        lambda all_of: list_max(all_of) + ln(
            list_aggregate(list_transform(all_of, lambda each: exp(each - list_max(all_of))), 'fsum') / len(all_of)
        )
    )[1]
