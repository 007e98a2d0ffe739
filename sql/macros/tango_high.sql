-- Upper score limit for a difference of paired proportions, (gains - losses) / n: `tango_low` with gains and losses
-- exchanged, turned round.
create macro tango_high(gains, losses, n, z) as
    -tango_low(losses, gains, n, z)
