-- Integrity: whether the projections hold exactly what the ledger accepted, as far as counts and fingerprints can tell.
-- Grain: one row for each candidate of a campaign, the baseline included.
-- Cells are compared with the ledger's trial.completed events by number and by a fingerprint of their sequences, so
-- that a missing or a doubled file shows; measurements are compared with what the candidate's cells announce, by number
-- and by a sum of hashes of their coordinates, so that one file lost and another doubled do not cancel out; cases,
-- metrics and candidates with what was declared, as are coordinates where a campaign declares their number. While a
-- projection lags behind the ledger, and while files are exchanged, a campaign is not whole for a moment: no number is
-- given then. A finished campaign that stays so is damaged: `reconciliation` names the table.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   cells: Cells found for the candidate.
--   announced_measurements: Measurements that those cells announce.
--   measurements: Measurements found for the candidate.
--   is_whole: Whether the campaign's and the candidate's own counts and fingerprints all agree.
--   is_comparable: Whether both the candidate and the baseline are whole.
with accepted as (
    select
        campaign_id,
        count(*) as cells,
        bit_xor(hash(sequence)) as fingerprint,
    from events
    where type = 'trial.completed'
    group by campaign_id
),

found_cells as (
    select
        campaign_id,
        candidate_id,
        count(*) as cells,
        sum(measured)::bigint as measured,
        sum(measured * coordinate_hash(case_id, repeat)) as measured_fingerprint,
        bit_xor(hash(sequence)) as fingerprint,
    from cells
    group by campaign_id, candidate_id
),

found_in_campaign as (
    select
        campaign_id,
        sum(cells)::bigint as cells,
        bit_xor(fingerprint) as fingerprint,
    from found_cells
    group by campaign_id
),

found_measurements as (
    select
        campaign_id,
        candidate_id,
        count(*) as measurements,
        sum(coordinate_hash(case_id, repeat)) as fingerprint,
    from measurements
    group by campaign_id, candidate_id
),

found_cases as (
    select
        campaign_id,
        count(*) as cases,
        count(distinct case_id) as distinct_cases,
    from cases
    group by campaign_id
),

found_metrics as (
    select
        campaign_id,
        count(*) as metrics,
        count(distinct metric) as distinct_metrics,
    from metrics
    group by campaign_id
),

found_coordinates as (
    select
        campaign_id,
        sum(repeats)::bigint as coordinates,
    from declared_repeats
    semi join (select campaign_id from declarations where coordinates is not null) using (campaign_id)
    group by campaign_id
),

campaign_level as (
    select
        declarations.campaign_id,
        coalesce(accepted.cells, 0) = coalesce(found_in_campaign.cells, 0)
        and coalesce(accepted.fingerprint, 0) = coalesce(found_in_campaign.fingerprint, 0)
        and coalesce(found_cases.cases, 0) = declarations.cases
        and coalesce(found_cases.distinct_cases, 0) = declarations.cases
        and coalesce(found_metrics.metrics, 0) = declarations.metrics
        and coalesce(found_metrics.distinct_metrics, 0) = declarations.metrics
        and (declarations.coordinates is null or coalesce(found_coordinates.coordinates, 0) = declarations.coordinates)
            as is_whole,
    from declarations
    left join accepted using (campaign_id)
    left join found_in_campaign using (campaign_id)
    left join found_cases using (campaign_id)
    left join found_metrics using (campaign_id)
    left join found_coordinates using (campaign_id)
),

judged as (
    select
        declared_candidates.campaign_id,
        declared_candidates.candidate_id,
        declared_candidates.arm,
        coalesce(found_cells.cells, 0) as cells,
        coalesce(found_cells.measured, 0) as announced_measurements,
        coalesce(found_measurements.measurements, 0) as measurements,
        campaign_level.is_whole
        and coalesce(found_cells.measured, 0) = coalesce(found_measurements.measurements, 0)
        and coalesce(found_cells.measured_fingerprint, 0) = coalesce(found_measurements.fingerprint, 0) as is_whole,
    from declared_candidates
    inner join campaign_level using (campaign_id)
    left join found_cells using (campaign_id, candidate_id)
    left join found_measurements using (campaign_id, candidate_id)
),

paired as (
    select
        campaign_id,
        candidate_id,
        cells,
        announced_measurements,
        measurements,
        is_whole,
        is_whole and bool_and(is_whole) filter (where arm = 'baseline') over (partition by campaign_id) as is_comparable,
    from judged
)

select * from paired
