-- Divergences: where the plan of a candidate's trials leaves that of the baseline's, step by step.
-- Grain: one row for each candidate and step of its plan, of which the evidence of a pair tells both arms' derivations.
-- The steps before the first that diverges are what both share and one of them could reuse.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   step: Position of the step in the plan, counted from 0.
--   operation: Identity of the operation.
--   pairs: Pairs whose evidence tells the step on both arms.
--   shared: Pairs at which both arms derived the same.
--   is_shared: Whether both arms derived the same at every one of them.
with baseline as (
    select
        campaign_id,
        case_id,
        repeat,
        step,
        operation,
        key,
    from derivations
    where arm = 'baseline'
),

compared as (
    select
        derivations.campaign_id,
        derivations.candidate_id,
        derivations.step,
        derivations.operation,
        count(*) as pairs,
        count(*) filter (where derivations.key = baseline.key) as shared,
    from derivations
    inner join baseline using (campaign_id, case_id, repeat, step, operation)
    where derivations.arm = 'candidate'
    group by derivations.campaign_id, derivations.candidate_id, derivations.step, derivations.operation
)

select
    *,
    pairs = shared as is_shared,
from compared
