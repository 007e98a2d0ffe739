-- Conclusion: what the campaign comes to, or what keeps it from that, and why, in words.
-- Grain: one row; columns as in the relation `conclusions`.
select
    standing,
    reason,
    shown(message, 1000) as message,
    shown(remedy, 1000) as remedy,
    passing,
    failing,
    indeterminate,
from conclusions
