-- Pareto: which passing candidates no other one beats on every metric.
-- Grain: one row for each candidate that its policy passes.
-- A candidate dominates another of its campaign where it is at least as good on every metric and better on one; equal
-- candidates do not dominate each other. One with an unknown mean can be neither ranked nor set aside: it is listed.
-- Ruling out goes from cheap to dear: first against the 64 highest by sum of scaled dimensions, then inside blocks of
-- neighbours in two orders, then among what is left. Every step drops only dominated points, so that the steps are mere
-- speed.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   is_rankable: Whether every mean is known.
--   is_front: Whether no other candidate dominates it; NULL where it cannot be ranked.
with scales as (
    select
        campaign_id,
        row_number() over () as campaign_ix,
        min(m0) as low0,
        nullif(max(m0) - min(m0), 0) as span0,
        min(m1) as low1,
        nullif(max(m1) - min(m1), 0) as span1,
        min(m2) as low2,
        nullif(max(m2) - min(m2), 0) as span2,
        min(m3) as low3,
        nullif(max(m3) - min(m3), 0) as span3,
        min(m4) as low4,
        nullif(max(m4) - min(m4), 0) as span4,
        min(m5) as low5,
        nullif(max(m5) - min(m5), 0) as span5,
        min(m6) as low6,
        nullif(max(m6) - min(m6), 0) as span6,
        min(m7) as low7,
        nullif(max(m7) - min(m7), 0) as span7,
    from pareto_points
    group by campaign_id
),

points as materialized (
    select
        scales.campaign_ix,
        pareto_points.campaign_id,
        pareto_points.candidate_id,
        pareto_points.m0,
        pareto_points.m1,
        pareto_points.m2,
        pareto_points.m3,
        pareto_points.m4,
        pareto_points.m5,
        pareto_points.m6,
        pareto_points.m7,
        coalesce((pareto_points.m0 - scales.low0) / scales.span0, 0)
        + coalesce((pareto_points.m1 - scales.low1) / scales.span1, 0)
        + coalesce((pareto_points.m2 - scales.low2) / scales.span2, 0)
        + coalesce((pareto_points.m3 - scales.low3) / scales.span3, 0)
        + coalesce((pareto_points.m4 - scales.low4) / scales.span4, 0)
        + coalesce((pareto_points.m5 - scales.low5) / scales.span5, 0)
        + coalesce((pareto_points.m6 - scales.low6) / scales.span6, 0)
        + coalesce((pareto_points.m7 - scales.low7) / scales.span7, 0) as height,
    from pareto_points
    inner join scales using (campaign_id)
    where m0 + m1 + m2 + m3 + m4 + m5 + m6 + m7 is not null
),

highest as materialized (
    select *
    from points
    qualify row_number() over (partition by campaign_ix order by height desc) <= 64
),

beside_highest as materialized (
    select
        *,
        row_number() over (partition by campaign_ix order by m0, m1, m2) // 256 as block,
    from points as point
    anti join highest as other
        on point.campaign_ix = other.campaign_ix and dominates(other, point)
),

beside_block as materialized (
    select
        * exclude (block),
        row_number() over (partition by campaign_ix order by m1, m2, m0) // 256 as block,
    from beside_highest as point
    anti join beside_highest as other
        on point.campaign_ix = other.campaign_ix and point.block = other.block and dominates(other, point)
),

remaining as materialized (
    select *
    from beside_block as point
    anti join beside_block as other
        on point.campaign_ix = other.campaign_ix and point.block = other.block and dominates(other, point)
),

front as (
    select campaign_id, candidate_id
    from remaining as point
    anti join remaining as other
        on point.campaign_ix = other.campaign_ix and dominates(other, point)
),

listed as (
    select
        pareto_points.campaign_id,
        pareto_points.candidate_id,
        points.candidate_id is not null as is_rankable,
        if(points.candidate_id is not null, front.candidate_id is not null, null) as is_front,
    from pareto_points
    left join points using (campaign_id, candidate_id)
    left join front using (campaign_id, candidate_id)
)

select * from listed
