-- Pareto noise: by whom a candidate off the front is dominated, and whether by more than noise.
-- Grain: one row for each candidate that its policy passes.
-- Compared with one dominator only, the front member with the smallest id, metric by metric: over the cases that both
-- have, the dominator's mean delta at the case less the candidate's, with a two-sided 95 % interval over clusters of
-- cases. A metric on which the two are alike at every case speaks neither way. That each metric must be on the
-- dominator's side by itself needs no adjustment for their number (an intersection-union test, Berger 1982); that
-- many candidates are looked at is not adjusted for.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   dominated_by: The smallest id of a front member that dominates it; NULL for a front member, and where it cannot be
--     ranked.
--   is_beyond_noise: Whether no interval reaches below 0 and one lies above it; false as soon as one reaches below 0;
--     else NULL where an interval is unknown or pairs are missing; NULL where dominated_by is.
with points as materialized (
    select
        pareto.campaign_id,
        pareto.candidate_id,
        pareto.is_front,
        row_number() over (order by pareto.campaign_id, pareto.candidate_id) as candidate_ix,
        pareto_points.m0,
        pareto_points.m1,
        pareto_points.m2,
        pareto_points.m3,
        pareto_points.m4,
        pareto_points.m5,
        pareto_points.m6,
        pareto_points.m7,
    from pareto
    inner join pareto_points using (campaign_id, candidate_id)
),

dominators as (
    select
        point.candidate_ix,
        min(other.candidate_ix) as dominator_ix,
    from points as point
    inner join points as other on point.campaign_id = other.campaign_id and dominates(other, point)
    where other.is_front and not point.is_front
    group by point.candidate_ix
),

ranked as materialized (
    select
        points.campaign_id,
        points.candidate_id,
        dominator.candidate_id as dominated_by,
    from points
    left join dominators using (candidate_ix)
    left join points as dominator on dominators.dominator_ix = dominator.candidate_ix
),

objectives as materialized (
    select
        row_number() over () as objective_ix,
        ranked.campaign_id,
        ranked.candidate_id,
        ranked.dominated_by,
        metrics.metric,
        metrics.upper - metrics.lower as reach,
    from ranked
    inner join metrics using (campaign_id)
    where ranked.dominated_by is not null
),

differences as (
    select
        objectives.objective_ix,
        scope_cases.cluster,
        other.mean_delta - own.mean_delta as difference,
        greatest(abs(own.baseline_mean), abs(own.candidate_mean), abs(other.candidate_mean)) as size,
    from objectives
    inner join case_deltas as own
        on objectives.campaign_id = own.campaign_id
        and objectives.candidate_id = own.candidate_id
        and objectives.metric = own.metric
    inner join case_deltas as other
        on objectives.campaign_id = other.campaign_id
        and objectives.dominated_by = other.candidate_id
        and objectives.metric = other.metric
        and own.case_id = other.case_id
    inner join scope_cases on objectives.campaign_id = scope_cases.campaign_id and own.case_id = scope_cases.case_id
    where scope_cases.scope = ''
),

means as (
    select
        objective_ix,
        count(*) as cases,
        spread_of(difference, size) as spread,
    from differences
    group by objective_ix
),

cluster_sums as (
    select
        differences.objective_ix,
        fsum(differences.difference - means.spread.mean) as deviation,
    from differences
    inner join means using (objective_ix)
    group by differences.objective_ix, differences.cluster
),

spreads as (
    select
        objective_ix,
        count(*) as clusters,
        fsum(deviation ** 2) as squared_sums,
    from cluster_sums
    group by objective_ix
),

limited as (
    select
        objectives.campaign_id,
        objectives.candidate_id,
        own_comparisons.missing + other_comparisons.missing as missing,
        if(
            means.spread.least = 0 and means.spread.greatest = 0,
            0,
            difference_low(
                means.spread.mean,
                above_rounding(cluster_error(spreads.squared_sums, spreads.clusters, means.cases), means.spread),
                t_quantile(spreads.clusters - 1, t_quantiles.quantile),
                is_constant(means.spread),
                -objectives.reach,
                spreads.clusters,
                0.025
            )
        ) as low,
    from objectives
    left join means using (objective_ix)
    left join spreads using (objective_ix)
    left join t_quantiles on spreads.clusters - 1 = t_quantiles.df
    left join comparisons as own_comparisons
        on objectives.campaign_id = own_comparisons.campaign_id
        and objectives.candidate_id = own_comparisons.candidate_id
        and objectives.metric = own_comparisons.metric
    left join comparisons as other_comparisons
        on objectives.campaign_id = other_comparisons.campaign_id
        and objectives.dominated_by = other_comparisons.candidate_id
        and objectives.metric = other_comparisons.metric
),

judged as (
    select
        campaign_id,
        candidate_id,
        case
            when min(low) < 0 then false
            when count(low) = count(*) and max(missing) = 0 then max(low) > 0
        end as is_beyond_noise,
    from limited
    group by campaign_id, candidate_id
),

told as (
    select
        ranked.campaign_id,
        ranked.candidate_id,
        ranked.dominated_by,
        judged.is_beyond_noise,
    from ranked
    left join judged using (campaign_id, candidate_id)
)

select * from told
