-- Shrinkage: what is left to expect of a score once luck is taken out of it (the winner's curse).
-- Grain: one row for each declared candidate with a known mean delta on the policy's preference metric.
-- The best of several noisy scores is too good on average. Empirical Bayes pulls each score towards the mean of all,
-- the more the smaller the true differences are beside the noise (normal-normal, positive part; Efron and Morris 1975).
-- The noise that matters is that of candidate against candidate: the baseline's is common to all and ranks nobody. It
-- is what a candidate's delta at a case has beyond the candidate's mean and the case's mean over candidates; summed
-- over clusters of cases, which are what is independent. It is taken to be alike in all candidates, so that one with
-- fewer cases has more in its mean. Noise that all candidates share stays in the expected scores: it lifts or lowers
-- all alike and is what the interval of `comparisons` is about. While trials are pending it is over what was found.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   score: Mean oriented delta of the preference metric, as in `decisions`.
--   expected_score: Posterior mean of the score; NULL for fewer than three candidates with a score, about whose true
--     spread next to nothing is known, and for fewer than two clusters of cases.
--   expected_shrinkage: How much of the score is luck, score - expected_score; negative where the score is below the
--     mean of all; NULL where expected_score is.
with scored as (
    select
        comparisons.campaign_id,
        comparisons.candidate_id,
        comparisons.metric,
        comparisons.cases,
        comparisons.mean_delta as score,
    from comparisons
    inner join declarations
        on comparisons.campaign_id = declarations.campaign_id and comparisons.metric = declarations.preference
    where comparisons.mean_delta is not null
),

centres as (
    select
        campaign_id,
        count(*) as candidates,
        favg(score) as centre,
    from scored
    group by campaign_id
),

deviations as (
    select
        scored.campaign_id,
        scored.candidate_id,
        case_deltas.case_id,
        case_deltas.mean_delta - scored.score as deviation,
    from scored
    inner join case_deltas using (campaign_id, candidate_id, metric)
),

case_means as (
    select
        campaign_id,
        case_id,
        count(*) as candidates,
        favg(deviation) as deviation,
    from deviations
    group by campaign_id, case_id
),

cluster_sums as (
    select
        deviations.campaign_id,
        scope_cases.cluster,
        fsum(deviations.deviation - case_means.deviation) as residual,
    from deviations
    inner join case_means using (campaign_id, case_id)
    inner join scope_cases using (campaign_id, case_id)
    where scope_cases.scope = ''
    group by deviations.campaign_id, deviations.candidate_id, scope_cases.cluster
),

squares as (
    select
        campaign_id,
        count(distinct cluster) as clusters,
        fsum(residual ** 2) as squared_sums,
    from cluster_sums
    group by campaign_id
),

freedom as (
    select
        campaign_id,
        sum(candidates - 1)::bigint as comparable,
    from case_means
    group by campaign_id
),

noises as (
    select
        squares.campaign_id,
        case when squares.clusters > 1 and freedom.comparable > 0 then
            squares.squared_sums * squares.clusters / (squares.clusters - 1) / freedom.comparable
        end as case_variance,
    from squares
    inner join freedom using (campaign_id)
),

priors as (
    select
        scored.campaign_id,
        greatest(
            fsum((scored.score - centres.centre) ** 2) / (min(centres.candidates) - 1)
            - favg(noises.case_variance / scored.cases),
            0
        ) as variance,
    from scored
    inner join centres using (campaign_id)
    inner join noises using (campaign_id)
    group by scored.campaign_id
    having min(centres.candidates) >= 3
),

expected as (
    select
        scored.campaign_id,
        scored.candidate_id,
        scored.score,
        case
            when noises.case_variance is null then null
            when priors.variance > 0 then
                centres.centre
                + (scored.score - centres.centre)
                * (priors.variance / (priors.variance + noises.case_variance / scored.cases))
            when priors.variance = 0 then centres.centre
        end as expected_score,
    from scored
    inner join centres using (campaign_id)
    left join noises using (campaign_id)
    left join priors using (campaign_id)
),

shrunk as (
    select
        campaign_id,
        candidate_id,
        score,
        expected_score,
        score - expected_score as expected_shrinkage,
    from expected
)

select * from shrunk
