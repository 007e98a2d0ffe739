-- Contenders: which passing candidates the evidence cannot tell from the selected one.
-- Grain: one row for each passing candidate of a campaign in which everything is decided, the selected one included.
-- The difference is paired: over the cases that both have, the selected candidate's mean delta at the case less this
-- candidate's, on the preference metric. The baseline is common to both and drops out; where it is itself what the
-- campaign ends with, its delta is 0 at every case. The standard error is that of independent clusters of cases; a case
-- without a cluster is one of its own. Intervals are simultaneous: with k candidates beside the selected one each has
-- the level 1 - 0.05 / k (Bonferroni). So the best of a given set of candidates is, in at least 97.5 % of campaigns,
-- selected or not separated, although the evidence that is tested has also picked the winner: only an error about the
-- best one itself can set it aside (Gupta 1965; Hsu 1984). That the gates chose the set on the same evidence is not
-- accounted for, and cases are taken as a sample whatever the policy infers to. Rows with is_separated false or NULL
-- are those that the evidence cannot rank behind the selected one.
-- NULL is unknown: the limits of a single cluster, and those of differences all alike where the metric has no declared
-- range (else they follow from the range and the number of clusters).
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Passing candidate.
--   label: Short name for people.
--   is_selected: Whether it is the selected candidate itself, whose difference and all after it are NULL; false for
--     all where the baseline is kept.
--   score: Mean oriented delta of the preference metric, as in `decisions`; NULL where unknown.
--   cases: Cases at which both it and the selected candidate have a delta of that metric.
--   missing: Declared pairs without a delta of that metric, of the selected candidate and of this one together; NULL
--     where the policy has no preference.
--   difference: Mean over those cases of the selected candidate's delta less this one's; NULL without such cases.
--   standard_error: Standard error of the difference over clusters; NULL for fewer than two clusters.
--   ci_low: Lower limit of the difference; NULL where unknown.
--   ci_high: Upper limit of the difference; NULL where unknown.
--   is_separated: Whether the difference is above 0 beyond noise, that is ci_low > 0; where pairs are missing, NULL
--     instead of true, since nobody knows what they would have changed; NULL where ci_low is unknown.
with passing as (
    select
        decisions.campaign_id,
        decisions.candidate_id,
        decisions.label,
        selection.selected_id,
        declarations.preference,
        decisions.candidate_id = selection.selected_id as is_selected,
        declarations.baseline_id = selection.selected_id as is_beside_baseline,
        decisions.score,
        count(*) filter (where decisions.candidate_id <> selection.selected_id)
            over (partition by decisions.campaign_id) as contenders,
    from decisions
    inner join selection using (campaign_id)
    inner join declarations using (campaign_id)
    where decisions.decision = 'pass'
),

gaps as (
    select
        passing.campaign_id,
        passing.candidate_id,
        comparisons.missing,
    from passing
    inner join comparisons
        on passing.campaign_id = comparisons.campaign_id
        and passing.candidate_id = comparisons.candidate_id
        and passing.preference = comparisons.metric
),

units as (
    select
        passing.campaign_id,
        passing.candidate_id,
        passing.is_selected,
        passing.is_beside_baseline,
        case_deltas.case_id,
        case_deltas.mean_delta,
        greatest(abs(case_deltas.baseline_mean), abs(case_deltas.candidate_mean)) as size,
    from passing
    inner join case_deltas
        on passing.campaign_id = case_deltas.campaign_id
        and passing.candidate_id = case_deltas.candidate_id
        and passing.preference = case_deltas.metric
),

selected_units as (
    select
        campaign_id,
        case_id,
        mean_delta,
        size,
    from units
    where is_selected
),

differences as (
    select
        units.campaign_id,
        units.candidate_id,
        scope_cases.cluster,
        coalesce(selected_units.mean_delta, 0) - units.mean_delta as difference,
        greatest(selected_units.size, units.size) as size,
    from units
    left join selected_units using (campaign_id, case_id)
    inner join scope_cases using (campaign_id, case_id)
    where scope_cases.scope = '' and (selected_units.mean_delta is not null or units.is_beside_baseline)
),

means as (
    select
        campaign_id,
        candidate_id,
        count(*) as cases,
        spread_of(difference, size) as spread,
    from differences
    group by campaign_id, candidate_id
),

cluster_sums as (
    select
        differences.campaign_id,
        differences.candidate_id,
        fsum(differences.difference - means.spread.mean) as deviation,
    from differences
    inner join means using (campaign_id, candidate_id)
    group by differences.campaign_id, differences.candidate_id, differences.cluster
),

spreads as (
    select
        campaign_id,
        candidate_id,
        count(*) as clusters,
        fsum(deviation ** 2) as squared_sums,
    from cluster_sums
    group by campaign_id, candidate_id
),

compared as materialized (
    select
        passing.campaign_id,
        passing.candidate_id,
        passing.label,
        passing.is_selected,
        passing.score,
        coalesce(means.cases, 0) as cases,
        gaps.missing
        + if(passing.is_selected, 0, coalesce(selected_gaps.missing, 0)) as missing,
        0.025 / nullif(passing.contenders, 0) as alpha,
        metrics.upper - metrics.lower as reach,
        spreads.clusters,
        is_constant(means.spread) as are_constant,
        if(passing.is_selected, null, means.spread.mean) as difference,
        above_rounding(
            cluster_error(spreads.squared_sums, spreads.clusters, means.cases), means.spread
        ) as standard_error,
    from passing
    left join metrics
        on passing.campaign_id = metrics.campaign_id and passing.preference = metrics.metric
    left join gaps
        on passing.campaign_id = gaps.campaign_id and passing.candidate_id = gaps.candidate_id
    left join gaps as selected_gaps
        on passing.campaign_id = selected_gaps.campaign_id and passing.selected_id = selected_gaps.candidate_id
    left join means
        on passing.campaign_id = means.campaign_id and passing.candidate_id = means.candidate_id
    left join spreads
        on passing.campaign_id = spreads.campaign_id and passing.candidate_id = spreads.candidate_id
),

levels as materialized (
    select
        clusters,
        alpha,
        t_quantile_at(1 - alpha, clusters - 1) as quantile,
    from (select distinct clusters, alpha from compared)
),

limited as (
    select
        compared.*,
        difference_low(
            compared.difference, compared.standard_error, levels.quantile,
            compared.are_constant, -compared.reach, compared.clusters, compared.alpha
        ) as ci_low,
        -difference_low(
            -compared.difference, compared.standard_error, levels.quantile,
            compared.are_constant, -compared.reach, compared.clusters, compared.alpha
        ) as ci_high,
    from compared
    left join levels using (clusters, alpha)
),

told as (
    select
        campaign_id,
        candidate_id,
        label,
        is_selected,
        score,
        cases,
        missing,
        difference,
        if(is_selected, null, standard_error) as standard_error,
        ci_low,
        ci_high,
        case
            when ci_low <= 0 then false
            when missing = 0 then ci_low > 0
        end as is_separated,
    from limited
)

select * from told
