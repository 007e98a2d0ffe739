-- Stated figures: what files that were ingested state of a system, beside what their samples amount to.
-- Grain: one row for each figure that a file states.
-- Means are over cases, each the mean of its repeats, as comparisons are; over_samples is the plain mean over samples,
-- which differs where cases have different numbers of repeats. A figure that the tool rounds is compared as rounded. A
-- campaign that was run has no row here. A cell that no file holds bears no attempt.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   figure: mean, samples or scored.
--   metric: Metric of a mean; NULL for counts.
--   name: What the file calls the figure.
--   place: Where the file states it.
--   stated: The figure as stated.
--   over_scored: The same over what has a usable value, a failure's declared worth included; for samples and scored the
--     number of cells that files hold, and that came to an end without a failure, unscored ones included.
--   over_samples: Plain mean over the same values; NULL for counts.
--   over_declared: The same over every declared cell, with the worst of the declared range where there is no value; NULL
--     where the metric declares no worst value. For samples and scored the number of declared cells.
--   unscored: Declared cells without a usable value; for samples and scored those that no file holds, and that failed
--     or never ended.
--   agrees: Whether the figure is that over what is scored; NULL where that is unknown.
--   difference: In words, what the file's figure is over, or by how much it is off.
with statements as (
    select distinct
        campaign_id,
        unnest(from_json(json_extract(payload, '$.stated'), '[{
            "candidate_id": "VARCHAR", "figure": "VARCHAR", "metric": "VARCHAR", "name": "VARCHAR", "place": "VARCHAR",
            "value": "DOUBLE", "decimals": "INTEGER"
        }]')) as figure,
    from events
    where type = 'campaign.started' and sequence = 1 and json_exists(payload, '$.stated')
),

stated as (
    select
        campaign_id,
        figure.candidate_id as candidate_id,
        figure.figure as figure,
        figure.metric as metric,
        figure.name as name,
        figure.place as place,
        figure.value as stated,
        figure.decimals as decimals,
    from statements
),

asked_metrics as (
    select distinct
        stated.campaign_id,
        stated.candidate_id,
        stated.metric,
        if(metrics.direction > 0, metrics.lower, metrics.upper) as worst,
    from stated
    inner join metrics using (campaign_id, metric)
),

squares as (
    select
        coordinates.campaign_id,
        coordinates.candidate_id,
        coordinates.case_id,
        count(*) as repeats,
    from coordinates
    semi join stated using (campaign_id, candidate_id)
    group by coordinates.campaign_id, coordinates.candidate_id, coordinates.case_id
),

valued as (
    select
        observations.campaign_id,
        observations.candidate_id,
        observations.metric,
        observations.case_id,
        count(*) as scored,
        fsum(observations.value) as total,
    from observations
    semi join asked_metrics using (campaign_id, candidate_id, metric)
    group by observations.campaign_id, observations.candidate_id, observations.metric, observations.case_id
),

means as (
    select
        asked_metrics.campaign_id,
        asked_metrics.candidate_id,
        asked_metrics.metric,
        favg(valued.total / valued.scored) as over_scored,
        fsum(valued.total) / sum(valued.scored) as over_samples,
        favg(
            (coalesce(valued.total, 0) + (squares.repeats - coalesce(valued.scored, 0)) * asked_metrics.worst)
            / squares.repeats
        ) as over_declared,
        sum(squares.repeats - coalesce(valued.scored, 0))::bigint as unscored,
    from asked_metrics
    inner join squares using (campaign_id, candidate_id)
    left join valued using (campaign_id, candidate_id, metric, case_id)
    group by asked_metrics.campaign_id, asked_metrics.candidate_id, asked_metrics.metric
),

held as (
    select
        campaign_id,
        candidate_id,
        count(*) filter (where attempts > 0) as samples,
        count(*) filter (where status = 'success' or failure_code = 'unscored') as completed,
    from cells
    semi join stated using (campaign_id, candidate_id)
    group by campaign_id, candidate_id
),

sizes as (
    select
        campaign_id,
        candidate_id,
        sum(repeats)::bigint as cells,
    from squares
    group by campaign_id, candidate_id
),

recomputed as (
    select
        stated.*,
        case stated.figure
            when 'mean' then means.over_scored
            when 'samples' then held.samples
            when 'scored' then held.completed
        end as over_scored,
        means.over_samples,
        if(stated.figure = 'mean', means.over_declared, sizes.cells) as over_declared,
        case stated.figure
            when 'mean' then means.unscored
            when 'samples' then sizes.cells - held.samples
            when 'scored' then sizes.cells - held.completed
        end as unscored,
    from stated
    left join means using (campaign_id, candidate_id, metric)
    left join held using (campaign_id, candidate_id)
    left join sizes using (campaign_id, candidate_id)
),

described as (
    select
        campaign_id,
        candidate_id,
        figure,
        metric,
        name,
        place,
        stated,
        over_scored,
        over_samples,
        over_declared,
        unscored,
        is_as_stated(stated, decimals, over_scored) as agrees,
        case
            when over_scored is null then 'nothing is scored'
            when figure <> 'mean' and not is_as_stated(stated, decimals, over_scored)
                then format('the file states {:.0f} and holds {:.0f}', stated, over_scored)
            when figure <> 'mean' and unscored > 0
                then format('of the declared cells {} are none of these', unscored)
            when is_as_stated(stated, decimals, over_scored) and unscored > 0
                then format('the file''s figure leaves out {} of the declared cells', unscored)
            when is_as_stated(stated, decimals, over_scored) then 'none'
            when is_as_stated(stated, decimals, over_declared)
                then format('the file counts {} cells without a value as the worst', unscored)
            when is_as_stated(stated, decimals, over_samples)
                then 'the file''s mean is over samples, not over cases'
            else format('the file''s figure is off by {:.6g}', stated - over_scored)
        end as difference,
    from recomputed
)

select * from described
