-- Dominance: at least as good on every dimension and better on one. A strict partial order; a NULL dimension neither
-- dominates nor is dominated.
create macro dominates(better, other) as
    better.m0 >= other.m0 and better.m1 >= other.m1 and better.m2 >= other.m2 and better.m3 >= other.m3
    and better.m4 >= other.m4 and better.m5 >= other.m5 and better.m6 >= other.m6 and better.m7 >= other.m7
    and (
        better.m0 > other.m0 or better.m1 > other.m1 or better.m2 > other.m2 or better.m3 > other.m3
        or better.m4 > other.m4 or better.m5 > other.m5 or better.m6 > other.m6 or better.m7 > other.m7
    )
