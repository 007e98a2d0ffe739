-- Pareto: where candidates stand on the two metrics that the page looks at first.
-- Grain: one row for the baseline and each candidate with both means; the first 400 in the page's order.
-- `front`: passes, and no other passing candidate is at least as good on every metric and better on one; all metrics of
-- the campaign count, not only the two. `dominated`: passes, but another one dominates it. `is_named`: its name fits in;
-- of points in one field of a grid of 6 by 16 the first of the front, or the baseline, has it.
with means as (
    select
        comparisons.candidate_id,
        max(comparisons.candidate_mean) filter (where comparisons.metric = focus.metric) as y,
        max(comparisons.candidate_mean) filter (where comparisons.metric = focus.other_metric) as x,
        max(comparisons.baseline_mean) filter (where comparisons.metric = focus.metric) as baseline_y,
        max(comparisons.baseline_mean) filter (where comparisons.metric = focus.other_metric) as baseline_x,
        max(comparisons.pairs) filter (where comparisons.metric = focus.metric) as pairs,
    from comparisons
    cross join focus
    group by comparisons.candidate_id
),

points as (
    select
        listed_candidates.position,
        listed_candidates.label,
        means.x,
        means.y,
        case
            when listed_candidates.is_selected then 'selected'
            when pareto.is_front then 'front'
            when pareto.is_front is not null then 'dominated'
            when listed_candidates.decision = 'pass' then 'unrankable'
            else 'not passing'
        end as standing,
    from means
    inner join listed_candidates using (candidate_id)
    left join pareto using (candidate_id)

    union all

    -- The baseline's mean is over the pairs with a candidate: that of the candidate with the most pairs stands.
    select
        0 as position,
        'baseline' as label,
        arg_max(means.baseline_x, (means.pairs, -listed_candidates.position)) as x,
        arg_max(means.baseline_y, (means.pairs, -listed_candidates.position)) as y,
        'baseline' as standing,
    from means
    inner join listed_candidates using (candidate_id)
    where means.baseline_x is not null and means.baseline_y is not null
),

known as (
    select
        *,
        (x - min(x) over ()) / nullif(max(x) over () - min(x) over (), 0) as across,
        (y - min(y) over ()) / nullif(max(y) over () - min(y) over (), 0) as upwards,
    from points
    where x is not null and y is not null
)

select
    position,
    label,
    x,
    y,
    standing,
    standing in ('selected', 'front', 'baseline') and row_number() over (
        partition by floor(coalesce(across, 0) * 6), floor(coalesce(upwards, 0) * 16)
        order by list_position(['selected', 'front', 'baseline'], standing) nulls last, position
    ) = 1 as is_named,
    count(*) over () as in_all,
from known
order by position
limit 400
