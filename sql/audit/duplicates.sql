-- Duplicates: what stands twice where one row is allowed. Must be empty.
-- Grain: one row for each coordinate with several cells, and for each coordinate and metric with several measurements.
-- A row here means a file was copied within the warehouse or a projection was written twice under two names.
-- columns:
--   campaign_id: Campaign of the coordinate.
--   relation: cells or measurements.
--   candidate_id: Candidate of the coordinate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case of the coordinate.
--   repeat: Repeat of the coordinate, counted from 0.
--   metric: Metric of the measurements; NULL for cells.
--   rows: Number of rows found.
with doubled_cells as (
    select
        campaign_id,
        'cells' as relation,
        candidate_id,
        arm,
        case_id,
        repeat,
        null::varchar as metric,
        count(*) as rows,
    from cells
    group by campaign_id, candidate_id, arm, case_id, repeat
    having count(*) > 1
),

doubled_measurements as (
    select
        campaign_id,
        'measurements' as relation,
        candidate_id,
        arm,
        case_id,
        repeat,
        metric,
        count(*) as rows,
    from measurements
    group by campaign_id, candidate_id, arm, case_id, repeat, metric
    having count(*) > 1
),

doubled as (
    select * from doubled_cells
    union all
    select * from doubled_measurements
)

select * from doubled
