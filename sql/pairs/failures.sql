-- Failures: how many accepted cells of a candidate did not succeed, and why.
-- Grain: one row for each candidate (the baseline included), status other than success, and failure code.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   status: domain_failure (evidence against the arm), infrastructure_failure or cancelled (no evidence about quality).
--   failure_code: Short stable name of what failed; NULL where the cell names none.
--   cells: Number of cells.
select
    campaign_id,
    candidate_id,
    arm,
    status,
    failure_code,
    count(*) as cells,
from cells
where status <> 'success'
group by campaign_id, candidate_id, arm, status, failure_code
