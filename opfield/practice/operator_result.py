"""What an operator outside the engine hands over: one attempt, its reconstruction, and the chain that it claims."""

from __future__ import annotations

from dataclasses import dataclass

from opfield.practice.attempt import CandidateAttempt
from opfield.practice.budget import BudgetCharge
from opfield.practice.form import Digest, Text
from opfield.practice.reconstruction import CandidateReconstruction
from opfield.practice.span import SourceSpan


@dataclass(frozen=True, slots=True)
class CandidateOperatorResult:
    """One operator's candidate for one run.

    Attributes:
        operator_result_id: identity of the result.
        operator_policy_version: the operator and its version, such as `missing_role_candidate.v1`.
        geometric_search_run_id: run that it was made for.
        original_contract_assessment_id: assessment that it started from.
        problem_frame_digest: problem that it started from.
        residual_ids: residuals that it started from, in order.
        gate_decision_id: gate decision that it started from.
        budget_id: budget decision that it started from.
        operator_set_id: operators that it belongs to.
        operator_set_version: their version.
        attempt_id: identity of its attempt.
        attempt_index: position of its attempt in the run.
        candidate_digest: identity of its candidate.
        candidate_reconstruction_digest: identity of its reconstruction.
        budget_charge: what the operator declares to have used.
        candidate_attempt: the attempt.
        candidate_reconstruction: the reconstruction.
        evidence_spans: places that it rests on, in the operator's order, duplicates kept.
        reason_codes: how it came about, as codes.
        schema_versions: (name, version) pairs, sorted by name, each name once.
        policy_versions: (name, version) pairs, sorted by name, each name once.
        explanation: words for people; outside the identity.
    """

    operator_result_id: Digest
    operator_policy_version: str
    geometric_search_run_id: Digest
    original_contract_assessment_id: Digest
    problem_frame_digest: Digest
    residual_ids: tuple[Digest, ...]
    gate_decision_id: Digest
    budget_id: Digest
    operator_set_id: str
    operator_set_version: str
    attempt_id: Digest
    attempt_index: int
    candidate_digest: Digest
    candidate_reconstruction_digest: Digest
    budget_charge: BudgetCharge
    candidate_attempt: CandidateAttempt
    candidate_reconstruction: CandidateReconstruction
    evidence_spans: tuple[SourceSpan, ...]
    reason_codes: tuple[str, ...]
    schema_versions: tuple[tuple[str, str], ...]
    policy_versions: tuple[tuple[str, str], ...]
    explanation: Text
