-- Pareto points: where each eligible candidate stands on the campaign's metrics, more being better on each.
-- Grain: one row for each candidate that its policy passes.
-- A point has eight dimensions. Those beyond the campaign's metrics are 0 for everybody, which orders nobody. NULL is a
-- mean that is unknown; where a campaign has more than eight metrics every first dimension is NULL, so that its
-- candidates are listed as unrankable rather than ranked by some of their metrics.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   m0: Mean of the metric declared first, times its direction; NULL where unknown.
--   m1: The same of the second metric; 0 where there is none.
--   m2: The same of the third metric; 0 where there is none.
--   m3: The same of the fourth metric; 0 where there is none.
--   m4: The same of the fifth metric; 0 where there is none.
--   m5: The same of the sixth metric; 0 where there is none.
--   m6: The same of the seventh metric; 0 where there is none.
--   m7: The same of the eighth metric; 0 where there is none.
with oriented as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        metrics.metric_ix,
        metrics.direction * comparisons.candidate_mean as value,
    from comparisons
    inner join metrics using (campaign_id, metric)
),

spread as (
    select
        campaign_id,
        candidate_id,
        count(*) as metrics,
        max(value) filter (where metric_ix = 0) as m0,
        max(value) filter (where metric_ix = 1) as m1,
        max(value) filter (where metric_ix = 2) as m2,
        max(value) filter (where metric_ix = 3) as m3,
        max(value) filter (where metric_ix = 4) as m4,
        max(value) filter (where metric_ix = 5) as m5,
        max(value) filter (where metric_ix = 6) as m6,
        max(value) filter (where metric_ix = 7) as m7,
    from oriented
    group by campaign_id, candidate_id
),

points as (
    select
        decisions.campaign_id,
        decisions.candidate_id,
        if(spread.metrics > 8, null, spread.m0) as m0,
        if(spread.metrics > 1, spread.m1, 0) as m1,
        if(spread.metrics > 2, spread.m2, 0) as m2,
        if(spread.metrics > 3, spread.m3, 0) as m3,
        if(spread.metrics > 4, spread.m4, 0) as m4,
        if(spread.metrics > 5, spread.m5, 0) as m5,
        if(spread.metrics > 6, spread.m6, 0) as m6,
        if(spread.metrics > 7, spread.m7, 0) as m7,
    from decisions
    inner join spread using (campaign_id, candidate_id)
    where decisions.decision = 'pass'
)

select * from points
