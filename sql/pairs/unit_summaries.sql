-- Unit summaries: the mean of each quantity over the units of a scope, and what its spread says, once with everything
-- missing at its worst and once at its best.
-- Grain: one row for each candidate, quantity, scope and number of cases that a gate judges it over, if there is a
-- case. The mean is over cases. Its standard error is that of independent clusters (the sum over clusters of the
-- squared sum of deviations, with the correction g / (g - 1)), which is the usual one where each case is its own. Where
-- values are missing it is a bound: no fill has a larger spread. An outlier that is missing would otherwise leave less
-- spread than it had.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   quantity: Quantity, as in `quantities`.
--   scope: Cases, as in `judged_scopes`; empty for all of them.
--   first_cases: How many cases of the registered order were looked at, all of them unless the gate is sequential.
--   cases: Planned cases of the scope among them.
--   clusters: Independent units: clusters, and cases without one.
--   missing: Declared pairs (tries) of the scope with something missing.
--   estimate: Mean over what was found; NULL where nothing was.
--   scale: Mean magnitude of what the values were computed from; NULL where nothing was found.
--   worst: `spread_of` the values with everything missing at its worst, and `squared_deviations`, the greatest of any
--     fill, scaled so that over clusters they are those of means; NULL where unknown.
--   best: The same with everything missing at its best.
--   noise: Variance of the mean by the noise of repeats alone; NULL where a case does not show it.
--   noise_df: Degrees of freedom of `noise` by Welch and Satterthwaite, rounded down; NULL where there is no noise.
--     From shares of the noise, whose squares neither overflow nor vanish.
with asked as (
    select distinct
        inference_gates.campaign_id,
        inference_gates.quantity,
        judged_scopes.scope,
        looks.cases as first_cases,
    from inference_gates
    inner join judged_scopes using (campaign_id, gate_ix)
    inner join looks using (campaign_id, gate_ix)
    where inference_gates.problem is null
),

units as materialized (
    select
        unit_values.campaign_id,
        unit_values.candidate_id,
        unit_values.quantity,
        asked.scope,
        asked.first_cases,
        scope_cases.cluster,
        scope_cases.is_clustered,
        unit_values.missing,
        unit_values.value,
        unit_values.low,
        unit_values.high,
        unit_values.magnitude,
        unit_values.noise,
        unit_values.noise_df,
    from unit_values
    inner join asked using (campaign_id, quantity)
    inner join scope_cases
        on unit_values.campaign_id = scope_cases.campaign_id
        and unit_values.case_id = scope_cases.case_id
        and asked.scope = scope_cases.scope
    inner join planned_cases
        on unit_values.campaign_id = planned_cases.campaign_id
        and unit_values.case_id = planned_cases.case_id
        and planned_cases.position <= asked.first_cases
),

means as (
    select
        campaign_id,
        candidate_id,
        quantity,
        scope,
        first_cases,
        count(*) as cases,
        count(*) filter (where not is_clustered)
        + count(distinct if(is_clustered, cluster, null)) as clusters,
        sum(missing)::bigint as missing,
        favg(value) as estimate,
        favg(magnitude) filter (where value is not null) as scale,
        spread_of(low, magnitude) as worst,
        spread_of(high, magnitude) as best,
        if(count(noise) = count(*), fsum(noise) / count(*) ** 2, null) as noise,
        fsum(noise) as total_noise,
    from units
    group by campaign_id, candidate_id, quantity, scope, first_cases
),

deviations as (
    select
        units.campaign_id,
        units.candidate_id,
        units.quantity,
        units.scope,
        units.first_cases,
        units.cluster,
        units.is_clustered,
        units.low - means.best.mean as low,
        units.high - means.worst.mean as high,
        units.noise / nullif(means.total_noise, 0) as noise_share,
        units.noise_df,
    from units
    inner join means using (campaign_id, candidate_id, quantity, scope, first_cases)
),

cluster_deviations as (
    select campaign_id, candidate_id, quantity, scope, first_cases, low, high
    from deviations
    where not is_clustered

    union all

    select campaign_id, candidate_id, quantity, scope, first_cases, fsum(low) as low, fsum(high) as high
    from deviations
    where is_clustered
    group by campaign_id, candidate_id, quantity, scope, first_cases, cluster
),

squares as (
    select
        campaign_id,
        candidate_id,
        quantity,
        scope,
        first_cases,
        fsum(if(low is null or high is null, null, greatest(low ** 2, high ** 2))) as squared_deviations,
    from cluster_deviations
    group by campaign_id, candidate_id, quantity, scope, first_cases
),

noises as (
    select
        campaign_id,
        candidate_id,
        quantity,
        scope,
        first_cases,
        floor(1 / fsum(noise_share ** 2 / noise_df) + 1e-9) as noise_df,
    from deviations
    where noise_share > 0
    group by campaign_id, candidate_id, quantity, scope, first_cases
),

scaled as (
    select
        means.*,
        squares.squared_deviations * (means.clusters / means.cases) ** 2 as squared_deviations,
    from means
    inner join squares using (campaign_id, candidate_id, quantity, scope, first_cases)
),

summarized as (
    select
        scaled.campaign_id,
        scaled.candidate_id,
        scaled.quantity,
        scaled.scope,
        scaled.first_cases,
        scaled.cases,
        scaled.clusters,
        scaled.missing,
        scaled.estimate,
        scaled.scale,
        struct_insert(scaled.worst, squared_deviations := scaled.squared_deviations) as worst,
        struct_insert(scaled.best, squared_deviations := scaled.squared_deviations) as best,
        scaled.noise,
        noises.noise_df,
    from scaled
    left join noises using (campaign_id, candidate_id, quantity, scope, first_cases)
)

select * from summarized
