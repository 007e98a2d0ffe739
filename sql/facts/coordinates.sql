-- Coordinates: the grid that a campaign declared before its first trial.
-- Grain: one row for each coordinate at which a cell is expected.
-- columns:
--   campaign_id: Campaign of the coordinate.
--   candidate_id: Candidate of the coordinate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case of the coordinate.
--   repeat: Repeat of the coordinate, counted from 0.
select
    campaign_id,
    candidate_id,
    arm,
    case_id,
    unnest(range(repeats))::integer as repeat,
from declared_repeats
