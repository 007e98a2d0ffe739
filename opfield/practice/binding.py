"""The membership of an attempt in a run: what is asked, what is bound, and what is refused (ADR-0232 §6–§8).

A binding is evidence of membership and nothing more: it says that the attempt is structurally admissible in the run's
episode. Binding changes neither record, consumes no budget, and gives the run no new id.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from opfield.practice.budget import BudgetCharge
from opfield.practice.form import Digest, Text
from opfield.practice.identity import canonical_id
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.record import as_json
from opfield.practice.run import GeometricSearchRun
from opfield.practice.span import SourceSpan

CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION: Final = "candidate_attempt_run_binding.v1"

#: The one thing that `run_attempt_membership` says.
STRUCTURALLY_BOUND: Final = "structurally_bound"


@dataclass(frozen=True, slots=True)
class CandidateAttemptRunBindingInput:
    """What a binding is asked for, by identities; the records themselves go beside it.

    Attributes:
        input_digest: identity of the input; the only one that is left out of its own hash rather than blanked.
        binding_policy_version: `candidate_attempt_run_binding.v1`.
        original_run_id: the run.
        original_run_policy_version: rule by which the run was recorded.
        original_run_input_digest: what the run was started with.
        operator_result_id: the operator result.
        operator_policy_version: the operator and its version.
        candidate_attempt_id: the attempt.
        attempt_index: position of the attempt in the run.
        candidate_digest: the candidate.
        candidate_reconstruction_digest: the reconstruction.
        operator_set_id: operators of the run.
        operator_set_version: their version.
        budget_id: budget decision of the run.
        gate_decision_id: gate decision of the run.
        residual_ids: residuals of the run, in order.
        problem_frame_digest: problem of the run.
        original_contract_assessment_id: assessment of the run.
        schema_versions: (name, version) pairs of the operator result.
        policy_versions: (name, version) pairs of the operator result.
    """

    input_digest: Digest
    binding_policy_version: str
    original_run_id: Digest
    original_run_policy_version: str
    original_run_input_digest: Digest
    operator_result_id: Digest
    operator_policy_version: str
    candidate_attempt_id: Digest
    attempt_index: int
    candidate_digest: Digest
    candidate_reconstruction_digest: Digest
    operator_set_id: str
    operator_set_version: str
    budget_id: Digest
    gate_decision_id: Digest
    residual_ids: tuple[Digest, ...]
    problem_frame_digest: Digest
    original_contract_assessment_id: Digest
    schema_versions: tuple[tuple[str, str], ...]
    policy_versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CandidateAttemptRunBinding:
    """An attempt is structurally admissible as a member of a run's episode; it says nothing else.

    Attributes:
        binding_id: identity of the membership.
        binding_policy_version: `candidate_attempt_run_binding.v1`.
        input_digest: what was asked for.
        original_run_id: the run.
        operator_result_id: the operator result.
        candidate_attempt_id: the attempt.
        attempt_index: position of the attempt in the run.
        candidate_digest: the candidate.
        candidate_reconstruction_digest: the reconstruction.
        candidate_attempt_ref: hash of the exact attempt that the operator emitted, its id included.
        budget_charge: what the attempt declares to have used; evidence, no allocation.
        depth: depth of the attempt.
        step_index: step at which it began.
        run_attempt_membership: `structurally_bound`.
        evidence_spans: the operator result's, in its order, duplicates kept.
        reason_codes: why it is bound, as codes.
        explanation: the same in words; outside the identity.
    """

    binding_id: Digest
    binding_policy_version: str
    input_digest: Digest
    original_run_id: Digest
    operator_result_id: Digest
    candidate_attempt_id: Digest
    attempt_index: int
    candidate_digest: Digest
    candidate_reconstruction_digest: Digest
    candidate_attempt_ref: Digest
    budget_charge: BudgetCharge
    depth: int
    step_index: int
    run_attempt_membership: str
    evidence_spans: tuple[SourceSpan, ...]
    reason_codes: tuple[str, ...]
    explanation: Text


@dataclass(frozen=True, slots=True)
class CandidateAttemptRunBindingRefusal:
    """Why nothing was bound. Never a partial binding: an identity that could not be validated is None.

    Attributes:
        binding_refusal_id: identity of the refusal.
        binding_policy_version: policy that refuses.
        input_digest: what was asked for.
        original_run_id: the run.
        operator_result_id: the operator result.
        candidate_attempt_id: the attempt.
        reason_codes: every rule that is violated, in the order of `BindingReason`.
        explanation: the same in words; outside the identity.
    """

    binding_refusal_id: Digest
    binding_policy_version: str
    input_digest: Digest | None
    original_run_id: Digest | None
    operator_result_id: Digest | None
    candidate_attempt_id: Digest | None
    reason_codes: tuple[str, ...]
    explanation: Text


CandidateAttemptRunBindingOutcome = CandidateAttemptRunBinding | CandidateAttemptRunBindingRefusal


def input_digest_of(binding_input: CandidateAttemptRunBindingInput) -> str:
    """Return the digest that a well-formed input should bear: over every other field of it (ADR-0232 §15)."""
    payload = as_json(binding_input)
    del payload["input_digest"]
    return canonical_id(payload)


def binding_input_for(run: GeometricSearchRun, result: CandidateOperatorResult) -> CandidateAttemptRunBindingInput:
    """Return the input that asks for an operator result to be bound to a run, both of them well-formed."""
    asked = CandidateAttemptRunBindingInput(
        input_digest="",
        binding_policy_version=CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
        original_run_id=run.run_id,
        original_run_policy_version=run.run_policy_version,
        original_run_input_digest=run.input_digest,
        operator_result_id=result.operator_result_id,
        operator_policy_version=result.operator_policy_version,
        candidate_attempt_id=result.attempt_id,
        attempt_index=result.attempt_index,
        candidate_digest=result.candidate_digest,
        candidate_reconstruction_digest=result.candidate_reconstruction_digest,
        operator_set_id=run.operator_set_id,
        operator_set_version=run.operator_set_version,
        budget_id=run.budget_id,
        gate_decision_id=run.gate_decision_id,
        residual_ids=run.residual_ids,
        problem_frame_digest=run.problem_frame_digest,
        original_contract_assessment_id=run.original_contract_assessment_id,
        schema_versions=result.schema_versions,
        policy_versions=result.policy_versions,
    )
    return replace(asked, input_digest=input_digest_of(asked))
