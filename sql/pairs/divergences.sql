-- Divergences: where the plan of a candidate's trials leaves that of the baseline's, step by step.
-- Grain: one row for each candidate and step of its plan, of which the evidence of a pair tells both arms' derivations.
-- A step is shared where the baseline derived the same anywhere in its own plan, of whatever steps that is made: what both
-- share, one of them could reuse.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   step: Position of the step in the candidate's plan, counted from 0.
--   operation: Identity of the operation.
--   pairs: Pairs whose evidence tells the candidate's step, and any of the baseline's.
--   shared: Pairs at which the baseline derived the same.
--   is_shared: Whether the baseline did at every one of them.
with baseline as (
    select
        campaign_id,
        case_id,
        repeat,
        list(distinct key) as keys,
    from derivations
    where arm = 'baseline'
    group by campaign_id, case_id, repeat
),

compared as (
    select
        derivations.campaign_id,
        derivations.candidate_id,
        derivations.step,
        derivations.operation,
        count(*) as pairs,
        count(*) filter (where list_contains(baseline.keys, derivations.key)) as shared,
    from derivations
    inner join baseline using (campaign_id, case_id, repeat)
    where derivations.arm = 'candidate'
    group by derivations.campaign_id, derivations.candidate_id, derivations.step, derivations.operation
)

select
    *,
    pairs = shared as is_shared,
from compared
