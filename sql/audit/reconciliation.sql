-- Reconciliation: what the ledger says beside what the projections hold and the views recompute.
-- Grain: one row for each campaign and figure, and for each candidate where the figure is the candidate's.
-- Figures: how many cells, measurements, candidates, cases and metrics there are, and, where a campaign declares their
-- number, coordinates; what was recorded as mean_delta, as decision and as selection. Where `agrees` is false the
-- projection of that table is torn or damaged, or the views are not those by which the campaign was judged.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate; NULL where the figure is the whole campaign's.
--   figure: What is compared; a mean_delta names its metric.
--   recorded: What the ledger says; NULL where it records nothing.
--   found: What the projections hold, or the views compute; NULL where unknown.
--   agrees: Whether the two are equal.
with counted_events as (
    select
        campaign_id,
        count(*) filter (where type = 'trial.completed') as cells,
        coalesce(
            sum(json_array_length(payload, '$.measurements')) filter (where type = 'trial.completed'), 0
        )::bigint as measurements,
        count(*) filter (where type = 'candidate.registered') as candidates,
    from events
    where type in ('trial.completed', 'campaign.started', 'candidate.registered')
    group by campaign_id
),

counted_cells as (
    select campaign_id, count(*) as cells
    from cells
    group by campaign_id
),

counted_measurements as (
    select campaign_id, count(*) as measurements
    from measurements
    group by campaign_id
),

counted_candidates as (
    select campaign_id, count(*) as candidates
    from candidates
    group by campaign_id
),

counted_cases as (
    select campaign_id, count(*) as cases
    from cases
    group by campaign_id
),

counted_metrics as (
    select campaign_id, count(*) as metrics
    from metrics
    group by campaign_id
),

counted_coordinates as (
    select
        declared_repeats.campaign_id,
        any_value(declarations.coordinates) as recorded,
        sum(declared_repeats.repeats)::bigint as found,
    from declared_repeats
    inner join declarations using (campaign_id)
    where declarations.coordinates is not null
    group by declared_repeats.campaign_id
),

counts as (
    select
        declarations.campaign_id,
        unnest([
            {'figure': 'cells', 'recorded': counted_events.cells, 'found': coalesce(counted_cells.cells, 0)},
            {
                'figure': 'measurements',
                'recorded': counted_events.measurements,
                'found': coalesce(counted_measurements.measurements, 0),
            },
            {
                'figure': 'candidates',
                'recorded': counted_events.candidates + 1,
                'found': coalesce(counted_candidates.candidates, 0),
            },
            {'figure': 'cases', 'recorded': declarations.cases, 'found': coalesce(counted_cases.cases, 0)},
            {'figure': 'metrics', 'recorded': declarations.metrics, 'found': coalesce(counted_metrics.metrics, 0)},
        ]) as counted,
    from declarations
    inner join counted_events using (campaign_id)
    left join counted_cells using (campaign_id)
    left join counted_measurements using (campaign_id)
    left join counted_candidates using (campaign_id)
    left join counted_cases using (campaign_id)
    left join counted_metrics using (campaign_id)
),

recorded as (
    select
        campaign_id,
        type,
        payload,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
    from events
    where type in ('comparison.recorded', 'decision.recorded', 'campaign.completed')
),

recorded_means as (
    select
        campaign_id,
        candidate_id,
        unnest(from_json(
            json_extract(payload, '$.comparisons'), '[{"metric": "VARCHAR", "mean_delta": "DOUBLE"}]'
        )) as comparison,
    from recorded
    where type = 'comparison.recorded'
),

compared as (
    select
        campaign_id,
        null::varchar as candidate_id,
        counted.figure as figure,
        counted.recorded::varchar as recorded,
        counted.found::varchar as found,
    from counts

    union all

    select
        campaign_id,
        null::varchar as candidate_id,
        'coordinates' as figure,
        recorded::varchar as recorded,
        found::varchar as found,
    from counted_coordinates

    union all

    select
        recorded_means.campaign_id,
        recorded_means.candidate_id,
        format('mean_delta({})', recorded_means.comparison.metric) as figure,
        recorded_means.comparison.mean_delta::varchar as recorded,
        comparisons.mean_delta::varchar as found,
    from recorded_means
    left join comparisons
        on recorded_means.campaign_id = comparisons.campaign_id
        and recorded_means.candidate_id = comparisons.candidate_id
        and recorded_means.comparison.metric = comparisons.metric

    union all

    select
        recorded.campaign_id,
        recorded.candidate_id,
        'decision' as figure,
        json_extract_string(recorded.payload, '$.decision') as recorded,
        decisions.decision as found,
    from recorded
    left join decisions using (campaign_id, candidate_id)
    where recorded.type = 'decision.recorded'

    union all

    select
        recorded.campaign_id,
        null::varchar as candidate_id,
        'selection' as figure,
        json_extract_string(recorded.payload, '$.selected') as recorded,
        selection.selected_id as found,
    from recorded
    left join selection using (campaign_id)
    where recorded.type = 'campaign.completed'
),

judged as (
    select
        campaign_id,
        candidate_id,
        figure,
        recorded,
        found,
        recorded is not distinct from found as agrees,
    from compared
)

select * from judged
