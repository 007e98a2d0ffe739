-- Coverage: how much of the declared evidence is there.
-- Grain: one row for each candidate of a campaign; a candidate that has cells without being declared has a row as well.
-- A coordinate is covered once it has an accepted cell, whatever its status: failures are counted in `failures`. Where
-- the rounds of the arms are independent (coupling none) a pair is a case, and an arm is missing there as long as a
-- repeat that it declares has no cell. An unexpected or duplicate cell is nothing that a campaign can record by itself:
-- look for a second writer.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   expected_pairs: Planned pairs, as in `declared_pairs`; 0 for a candidate that is not declared.
--   complete_pairs: Declared pairs with an accepted cell on both arms, at every repeat that they declare.
--   missing_baseline: Declared pairs without a cell of the baseline.
--   missing_candidate: Declared pairs without a cell of the candidate.
--   not_planned: Declared pairs that a sequential gate took out of the plan when it stopped early; nothing is missing
--     there. NULL where not whole.
--   unexpected_cells: Cells of the candidate or of the baseline off the declared grid.
--   duplicate_cells: Cells of the candidate or of the baseline that stand at a coordinate already taken.
--   is_whole: Whether the projections hold what the ledger accepted, for the candidate and the baseline.
--   is_complete: Whether nothing is missing, unexpected or duplicate, and all is whole.
with baseline_cells as (
    select
        cells.campaign_id,
        cells.case_id,
        cells.repeat,
        count(*) as cells,
    from cells
    inner join declarations on cells.campaign_id = declarations.campaign_id and cells.candidate_id = declarations.baseline_id
    where cells.arm = 'baseline'
    group by cells.campaign_id, cells.case_id, cells.repeat
),

grid as materialized (
    select
        declared_pairs.campaign_id,
        declared_pairs.case_id,
        declared_pairs.repeat,
        row_number() over () as pair_ix,
        coalesce(baseline_cells.cells, 0) as baseline_cells,
    from declared_pairs
    semi join (select campaign_id from declarations where coupling is distinct from 'none') using (campaign_id)
    left join baseline_cells using (campaign_id, case_id, repeat)
),

independent as materialized (
    select
        campaign_id,
        candidate_id,
        arm,
        case_id,
        cells,
        cells - covered as doubled,
        is_covered,
    from independent_cells
),

on_baseline as (
    select
        campaign_id,
        count(*) as expected,
        count(distinct case_id) as cases,
        count(*) filter (where baseline_cells > 0) as covered,
        sum(baseline_cells)::bigint as cells,
        sum(baseline_cells)::bigint - count(*) filter (where baseline_cells > 0) as doubled,
    from grid
    group by campaign_id

    union all

    select
        campaign_id,
        count(*) as expected,
        count(*) as cases,
        count(*) filter (where is_covered) as covered,
        sum(cells)::bigint as cells,
        sum(doubled)::bigint as doubled,
    from independent
    where arm = 'baseline'
    group by campaign_id
),

found as materialized (
    select
        campaign_id,
        candidate_id,
        row_number() over () as candidate_ix,
        count(*) as cells,
    from cells
    group by campaign_id, candidate_id
),

on_coordinate as (
    select
        found.candidate_ix,
        grid.pair_ix,
        count(*) as cells,
        bool_and(grid.baseline_cells > 0) as is_complete,
    from cells
    inner join grid using (campaign_id, case_id, repeat)
    inner join found using (campaign_id, candidate_id)
    where cells.arm = 'candidate'
    group by found.candidate_ix, grid.pair_ix
),

on_grid as (
    select
        candidate_ix,
        sum(cells)::bigint as cells,
        count(*) as covered,
        count(*) filter (where is_complete) as complete,
        sum(cells)::bigint - count(*) as doubled,
    from on_coordinate
    group by candidate_ix

    union all

    select
        found.candidate_ix,
        sum(own.cells)::bigint as cells,
        count(*) filter (where own.is_covered) as covered,
        count(*) filter (where own.is_covered and base.is_covered) as complete,
        sum(own.doubled)::bigint as doubled,
    from independent as own
    inner join independent as base on own.campaign_id = base.campaign_id and own.case_id = base.case_id
    inner join found on own.campaign_id = found.campaign_id and own.candidate_id = found.candidate_id
    where own.arm = 'candidate' and base.arm = 'baseline'
    group by found.candidate_ix
),

counted as (
    select
        coalesce(declared_candidates.campaign_id, found.campaign_id) as campaign_id,
        coalesce(declared_candidates.candidate_id, found.candidate_id) as candidate_id,
        declared_candidates.candidate_id is not null as is_declared,
        found.candidate_ix,
        coalesce(found.cells, 0) as cells,
    from declared_candidates
    full join found using (campaign_id, candidate_id)
    where declared_candidates.arm is distinct from 'baseline'
),

compared as (
    select
        counted.campaign_id,
        counted.candidate_id,
        if(counted.is_declared, coalesce(on_baseline.expected, 0), 0) as expected_pairs,
        if(counted.is_declared, coalesce(on_grid.complete, 0), 0) as complete_pairs,
        if(counted.is_declared, coalesce(on_baseline.expected - on_baseline.covered, 0), 0) as missing_baseline,
        if(counted.is_declared, coalesce(on_baseline.expected, 0) - coalesce(on_grid.covered, 0), 0)
            as missing_candidate,
        if(
            integrity.is_comparable,
            (declarations.cases - coalesce(on_baseline.cases, 0))
            * if(declarations.coupling = 'none', 1, declarations.repeats),
            null
        ) as not_planned,
        counted.cells - if(counted.is_declared, coalesce(on_grid.cells, 0), 0)
        + coalesce(baseline_found.cells, 0) - coalesce(on_baseline.cells, 0) as unexpected_cells,
        if(counted.is_declared, coalesce(on_grid.doubled, 0), 0)
        + coalesce(on_baseline.doubled, 0) as duplicate_cells,
        coalesce(integrity.is_comparable, false) as is_whole,
    from counted
    inner join declarations on counted.campaign_id = declarations.campaign_id
    left join on_baseline on counted.campaign_id = on_baseline.campaign_id
    left join on_grid on counted.candidate_ix = on_grid.candidate_ix
    left join found as baseline_found
        on declarations.campaign_id = baseline_found.campaign_id and declarations.baseline_id = baseline_found.candidate_id
    left join integrity
        on counted.campaign_id = integrity.campaign_id and counted.candidate_id = integrity.candidate_id
),

judged as (
    select
        *,
        is_whole and missing_baseline + missing_candidate + unexpected_cells + duplicate_cells = 0
        and expected_pairs > 0 as is_complete,
    from compared
)

select * from judged
