-- Found pairs: how many pairs a comparison is made of, and how many more were declared.
-- Grain: one row for each declared candidate and metric.
-- Where the projections are not whole nothing is known of either.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline, and no
--     case has more pairs than repeats.
--   expected_pairs: Declared pairs; one that has a value and lacks some of its rounds counts twice, as found and as
--     missing.
--   pairs: Pairs at which both arms have a usable value; NULL where not whole.
--   missing: Declared pairs at which an arm lacks a usable value, or, where rounds are independent, some of them;
--     NULL where not whole.
with plans as (
    select
        campaign_id,
        count(*) as pairs,
        max(repeat) + 1 as most_pairs,
    from declared_pairs
    group by campaign_id
),

found as (
    select
        campaign_id,
        candidate_id,
        metric,
        sum(pairs)::bigint as pairs,
        max(pairs) as most_pairs,
    from case_deltas
    group by campaign_id, candidate_id, metric
),

partial as (
    select
        campaign_id,
        candidate_id,
        metric,
        count(*) as pairs,
    from partial_pairs
    group by campaign_id, candidate_id, metric
),

counted as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        measured.metric,
        integrity.is_comparable and coalesce(found.most_pairs <= plans.most_pairs, true) as is_whole,
        coalesce(plans.pairs, 0) + coalesce(partial.pairs, 0) as expected_pairs,
        coalesce(found.pairs, 0) as pairs,
    from declared_candidates
    inner join integrity using (campaign_id, candidate_id)
    inner join (select distinct campaign_id, metric from metrics) as measured using (campaign_id)
    left join plans using (campaign_id)
    left join found using (campaign_id, candidate_id, metric)
    left join partial using (campaign_id, candidate_id, metric)
    where declared_candidates.arm = 'candidate'
)

select
    campaign_id,
    candidate_id,
    metric,
    is_whole,
    expected_pairs,
    if(is_whole, pairs, null) as pairs,
    if(is_whole, expected_pairs - pairs, null) as missing,
from counted
