-- What a verdict adds where values of a metric are unknown and a bound of them is too: how the range is declared.
-- Empty where both bounds are known, and for what is no metric, which has no range to declare.
create macro range_remedy(metric, low, high) as
    if(
        metric is null or (low is not null and high is not null),
        '',
        format('; declare both ends of the range of {}, for an intake with --bounds {}=LOW:HIGH', metric, metric)
    )
