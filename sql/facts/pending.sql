-- Pending: what is still to do, that is declared coordinates less accepted cells.
-- Grain: one row for each declared coordinate without an accepted cell.
-- A completed campaign has no row here; a cancelled one keeps those that it never ran.
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
    repeat,
from coordinates
anti join cells using (campaign_id, candidate_id, arm, case_id, repeat)
