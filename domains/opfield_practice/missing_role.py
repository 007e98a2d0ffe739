"""`missing_role_candidate.v1`: one attempt that fills one missing role with one typed cue (ADR-0232 §5).

The operator reads no source again, searches nothing, replays nothing and seals nothing.
"""

from __future__ import annotations

from typing import Final

import opfield as of
from opfield.practice import (
    BudgetCharge,
    CandidateAttempt,
    CandidateOperatorResult,
    CandidateReconstruction,
    CandidateReplayStatus,
    ContractResidual,
    GeometricSearchRun,
    candidate_digest,
    sealed,
)
from opfield_practice.frame import Contract, TypedCue

MISSING_ROLE_CANDIDATE_POLICY_VERSION: Final = "missing_role_candidate.v1"


def build_missing_role_candidate(
    run: GeometricSearchRun, contract: Contract, residual: ContractResidual, cue: TypedCue, attempt_index: int = 0
) -> CandidateOperatorResult:
    """Return the candidate that fills the residual's role with the cue's words.

    Args:
        run: run that the candidate is made for; it is read and left as it is.
        contract: tells which type of cue the role takes.
        residual: the missing role; one of the run's.
        cue: words that were seen and typed already.
        attempt_index: position that the attempt declares in the run; it charges one candidate and one step there.

    Raises:
        opfield.OpfieldError: where the residual is not the run's, or the cue is of another type than the role takes.
    """
    wanted = dict(contract.role_types).get(residual.role)
    if residual.residual_id not in run.residual_ids:
        raise of.OpfieldError(
            f"residual {residual.residual_id[:12]}… is none of the run's; hand over one that it names"
        )
    if cue.cue_type != wanted:
        raise of.OpfieldError(f"role {residual.role!r} takes a cue of type {wanted!r}, not {cue.cue_type!r}")
    assignments = ((residual.role, cue.span.text),)
    digest = candidate_digest(run.problem_frame_digest, assignments)
    charge = BudgetCharge(candidates=1, steps=1)
    spans = (cue.span,)
    attempt = sealed(
        CandidateAttempt(
            attempt_id="",
            attempt_index=attempt_index,
            candidate_digest=digest,
            replay_status=CandidateReplayStatus.REPLAY_PENDING,
            replay_blockers=(),
            budget_charge=charge,
            depth=1,
            step_index=attempt_index,
            evidence_spans=spans,
        )
    )
    reconstruction = sealed(
        CandidateReconstruction(
            candidate_reconstruction_digest="",
            candidate_digest=digest,
            problem_frame_digest=run.problem_frame_digest,
            role_assignments=assignments,
            evidence_spans=spans,
        )
    )
    return sealed(
        CandidateOperatorResult(
            operator_result_id="",
            operator_policy_version=MISSING_ROLE_CANDIDATE_POLICY_VERSION,
            geometric_search_run_id=run.run_id,
            original_contract_assessment_id=run.original_contract_assessment_id,
            problem_frame_digest=run.problem_frame_digest,
            residual_ids=run.residual_ids,
            gate_decision_id=run.gate_decision_id,
            budget_id=run.budget_id,
            operator_set_id=run.operator_set_id,
            operator_set_version=run.operator_set_version,
            attempt_id=attempt.attempt_id,
            attempt_index=attempt_index,
            candidate_digest=digest,
            candidate_reconstruction_digest=reconstruction.candidate_reconstruction_digest,
            budget_charge=charge,
            candidate_attempt=attempt,
            candidate_reconstruction=reconstruction,
            evidence_spans=spans,
            reason_codes=("typed_cue_fits_missing_role",),
            schema_versions=run.schema_versions,
            policy_versions=run.policy_versions,
            explanation=f"{residual.role} could be {cue.span.text!r}",
        )
    )
