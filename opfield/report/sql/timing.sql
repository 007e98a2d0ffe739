-- Timing: how far apart in time the two arms of a pair ran.
-- Grain: one row; where the rounds of the arms are independent (coupling none) there are no such pairs.
-- A pair counts as known where both of its accepted attempts have a start.
with baseline_cells as (
    select
        cells.case_id,
        cells.repeat,
        min(cells.started_at) as started_at,
    from cells
    where cells.arm = 'baseline'
    group by cells.case_id, cells.repeat
),

gaps as (
    select (epoch_us(cells.started_at) - epoch_us(baseline_cells.started_at)) / 1e6 as gap_s
    from cells
    inner join baseline_cells using (case_id, repeat)
    semi join (select campaign_id from declarations where coupling is distinct from 'none') using (campaign_id)
    where cells.arm = 'candidate'
)

select
    count(*) as pairs,
    count(gap_s) as known_pairs,
    quantile_disc(abs(gap_s), 0.5) as median_s,
    quantile_disc(abs(gap_s), 0.95) as most_s,
    max(abs(gap_s)) as longest_s,
    count(*) filter (where gap_s > 0) as baseline_first,
    count(*) filter (where gap_s < 0) as candidate_first,
from gaps
