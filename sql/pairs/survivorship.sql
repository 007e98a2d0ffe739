-- Survivorship: what a comparison would read if failed cells left it, beside what it reads.
-- Grain: one row for each declared candidate and metric.
-- Leaving out the pairs at which an arm failed compares whatever survived: where hard cases fail on the candidate, it
-- looks better than it is. Both means are over cases, repeats averaged inside them first. Where the rounds of the arms
-- are independent (coupling none) a pair is a case, and an arm's mean there is over what it measured. Where the
-- projections are not whole every number is NULL.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   metric: Metric.
--   expected_pairs: Planned pairs.
--   measured_pairs: Pairs that both arms measured, no failure counted.
--   measured_mean_delta: Mean oriented delta over those pairs alone; NULL without any.
--   counted_pairs: Pairs that count: those measured, and those at which a failure has a declared worth.
--   mean_delta: Mean oriented delta over the pairs that count, as in `comparisons`; NULL without any.
--   gain_of_survivors: How much better the survivors alone look: measured_mean_delta less mean_delta; exactly 0 where
--     nothing failed.
with survivors as (
    select
        campaign_id,
        candidate_id,
        arm,
        metric,
        case_id,
        repeat,
        measured_value as value,
        measured_value = value as is_all,
    from paired_values
    where measured_value is not null
),

measured_units as (
    select
        candidate_survivors.campaign_id,
        candidate_survivors.candidate_id,
        candidate_survivors.metric,
        candidate_survivors.case_id,
        count(*) as pairs,
        favg(
            oriented_delta(metrics.direction, candidate_survivors.value, baseline_survivors.value)
        ) as mean_delta,
        bool_and(candidate_survivors.is_all and baseline_survivors.is_all) as is_all,
    from survivors as candidate_survivors
    inner join survivors as baseline_survivors using (campaign_id, metric, case_id, repeat)
    inner join declared_pairs using (campaign_id, case_id, repeat)
    inner join metrics using (campaign_id, metric)
    where candidate_survivors.arm = 'candidate' and baseline_survivors.arm = 'baseline'
    group by
        candidate_survivors.campaign_id,
        candidate_survivors.candidate_id,
        candidate_survivors.metric,
        candidate_survivors.case_id
),

measured as (
    select
        campaign_id,
        candidate_id,
        metric,
        sum(pairs)::bigint as pairs,
        favg(mean_delta) as mean_delta,
        bool_and(is_all) as is_all,
    from measured_units
    group by campaign_id, candidate_id, metric
),

compared as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        comparisons.metric,
        comparisons.pairs + comparisons.missing as expected_pairs,
        if(comparisons.is_whole, coalesce(measured.pairs, 0), null) as measured_pairs,
        if(comparisons.is_whole, measured.mean_delta, null) as measured_mean_delta,
        comparisons.pairs as counted_pairs,
        comparisons.mean_delta,
        case
            when not comparisons.is_whole then null
            when measured.is_all and measured.pairs = comparisons.pairs then 0
            else measured.mean_delta - comparisons.mean_delta
        end as gain_of_survivors,
    from comparisons
    left join measured using (campaign_id, candidate_id, metric)
)

select * from compared
