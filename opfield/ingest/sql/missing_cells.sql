-- Missing cells: coordinates of the grid that no sample takes.
-- Grain: one row for each of them.
with squares as (
    select
        system,
        case_id,
        absence,
        unnest(range(repeats))::integer as repeat,
    from grid
    where found < repeats
)

select
    squares.system,
    squares.case_id,
    squares.repeat,
    squares.absence,
from squares
anti join placed_samples using (system, case_id, repeat)
