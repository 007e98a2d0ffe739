"""The replay adapter's side: a binding as membership evidence for a replay, and what a replay found (ADR-0232 §11).

Replaying happens elsewhere. These functions check what goes in and record what comes out; binding knows none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from opfield.practice.attempt import CandidateAttempt
from opfield.practice.binding import CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION, CandidateAttemptRunBinding
from opfield.practice.form import Digest, Text, well_formed
from opfield.practice.identity import canonical_id
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.reconstruction import CandidateReconstruction
from opfield.practice.record import as_json, bears_its_identity, sealed
from opfield.practice.run import GeometricSearchRun

REPLAY_ADAPTER_POLICY_VERSION: Final = "replay_adapter.v1"


class ReplayReason(StrEnum):
    """Why nothing can be replayed, in the order in which a refusal reports it."""

    RUN_MALFORMED = "run_malformed"
    BINDING_MALFORMED = "binding_malformed"
    ATTEMPT_MALFORMED = "attempt_malformed"
    RECONSTRUCTION_MALFORMED = "reconstruction_malformed"
    OPERATOR_RESULT_MALFORMED = "operator_result_malformed"
    IDENTITY_UNREPRODUCED = "identity_unreproduced"
    BINDING_POLICY_UNSUPPORTED = "binding_policy_unsupported"
    RUN_ID_MISMATCH = "run_id_mismatch"
    ATTEMPT_MISMATCH = "attempt_mismatch"
    RECONSTRUCTION_MISMATCH = "reconstruction_mismatch"
    OPERATOR_RESULT_MISMATCH = "operator_result_mismatch"


class ReplayDisposition(StrEnum):
    """What a replay found about the contract."""

    CONTRACT_CLOSED = "contract_closed"
    CONTRACT_OPEN = "contract_open"


@dataclass(frozen=True, slots=True)
class ReplayAdapterInput:
    """An attempt that may be replayed as a member of a run.

    Attributes:
        replay_input_id: identity of the input.
        replay_policy_version: `replay_adapter.v1`.
        original_run_id: the run.
        binding_id: evidence that the attempt is a member of the run.
        candidate_attempt_id: the attempt.
        attempt_index: its position in the run.
        candidate_digest: the candidate.
        candidate_reconstruction_digest: the reconstruction to replay.
    """

    replay_input_id: Digest
    replay_policy_version: str
    original_run_id: Digest
    binding_id: Digest
    candidate_attempt_id: Digest
    attempt_index: int
    candidate_digest: Digest
    candidate_reconstruction_digest: Digest


@dataclass(frozen=True, slots=True)
class ReplayAdapterResult:
    """What the replay of an attempt found.

    Attributes:
        replay_result_id: identity of the result.
        replay_policy_version: `replay_adapter.v1`.
        replay_input_id: what was replayed.
        original_run_id: its run.
        binding_id: its binding.
        replay_disposition: whether the contract is closed.
        reason_codes: why, as codes.
    """

    replay_result_id: Digest
    replay_policy_version: str
    replay_input_id: Digest
    original_run_id: Digest
    binding_id: Digest
    replay_disposition: ReplayDisposition
    reason_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplayAdapterRefusal:
    """Why an attempt cannot be replayed.

    Attributes:
        replay_refusal_id: identity of the refusal.
        replay_policy_version: `replay_adapter.v1`.
        original_run_id: the run; None where it could not be validated.
        binding_id: the binding; None where it could not be validated.
        reason_codes: every rule that is violated, in the order of `ReplayReason`.
        explanation: words for people; outside the identity.
    """

    replay_refusal_id: Digest
    replay_policy_version: str
    original_run_id: Digest | None
    binding_id: Digest | None
    reason_codes: tuple[str, ...]
    explanation: Text


def build_replay_adapter_input(
    original_run: object,
    binding: object,
    candidate_attempt: object,
    candidate_reconstruction: object,
    candidate_operator_result: object = None,
) -> ReplayAdapterInput | ReplayAdapterRefusal:
    """Return what may be replayed, or why nothing may; total over any values.

    Args:
        original_run: a `GeometricSearchRun`; it need not hold the attempt.
        binding: the `CandidateAttemptRunBinding` that makes the attempt a member.
        candidate_attempt: the `CandidateAttempt`.
        candidate_reconstruction: its `CandidateReconstruction`.
        candidate_operator_result: the `CandidateOperatorResult` that they come from, to check the binding by; or None.
    """
    run = well_formed(original_run, GeometricSearchRun)
    member = well_formed(binding, CandidateAttemptRunBinding)
    attempt = well_formed(candidate_attempt, CandidateAttempt)
    reconstruction = well_formed(candidate_reconstruction, CandidateReconstruction)
    result = well_formed(candidate_operator_result, CandidateOperatorResult)
    forms = {
        ReplayReason.RUN_MALFORMED: run,
        ReplayReason.BINDING_MALFORMED: member,
        ReplayReason.ATTEMPT_MALFORMED: attempt,
        ReplayReason.RECONSTRUCTION_MALFORMED: reconstruction,
        **({} if candidate_operator_result is None else {ReplayReason.OPERATOR_RESULT_MALFORMED: result}),
    }
    reasons = {reason for reason, record in forms.items() if record is None}
    if not all(bears_its_identity(each) for each in forms.values() if each is not None):
        reasons.add(ReplayReason.IDENTITY_UNREPRODUCED)
    if run is None or member is None or attempt is None or reconstruction is None:
        return _refusal(run, member, reasons)
    reasons |= set(_mismatches(run, member, attempt, reconstruction))
    if result is not None and result.operator_result_id != member.operator_result_id:
        reasons.add(ReplayReason.OPERATOR_RESULT_MISMATCH)
    if reasons:
        return _refusal(run, member, reasons)
    return sealed(
        ReplayAdapterInput(
            replay_input_id="",
            replay_policy_version=REPLAY_ADAPTER_POLICY_VERSION,
            original_run_id=run.run_id,
            binding_id=member.binding_id,
            candidate_attempt_id=member.candidate_attempt_id,
            attempt_index=member.attempt_index,
            candidate_digest=member.candidate_digest,
            candidate_reconstruction_digest=member.candidate_reconstruction_digest,
        )
    )


def classify_replay_result(replay_input: ReplayAdapterInput, open_roles: tuple[str, ...]) -> ReplayAdapterResult:
    """Record what a replay found: the contract is closed where no role stayed open.

    Args:
        replay_input: what was replayed.
        open_roles: roles of the contract that nothing fills after the replay, in the contract's order.
    """
    return sealed(
        ReplayAdapterResult(
            replay_result_id="",
            replay_policy_version=REPLAY_ADAPTER_POLICY_VERSION,
            replay_input_id=replay_input.replay_input_id,
            original_run_id=replay_input.original_run_id,
            binding_id=replay_input.binding_id,
            replay_disposition=ReplayDisposition.CONTRACT_OPEN if open_roles else ReplayDisposition.CONTRACT_CLOSED,
            reason_codes=tuple(f"open:{role}" for role in open_roles) or ("every_role_filled",),
        )
    )


def _mismatches(
    run: GeometricSearchRun,
    binding: CandidateAttemptRunBinding,
    attempt: CandidateAttempt,
    reconstruction: CandidateReconstruction,
) -> Iterator[ReplayReason]:
    if binding.binding_policy_version != CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION:
        yield ReplayReason.BINDING_POLICY_UNSUPPORTED
    if binding.original_run_id != run.run_id:
        yield ReplayReason.RUN_ID_MISMATCH
    if (
        binding.candidate_attempt_id != attempt.attempt_id
        or binding.attempt_index != attempt.attempt_index
        or binding.candidate_digest != attempt.candidate_digest
        or binding.candidate_attempt_ref != canonical_id(as_json(attempt))
    ):
        yield ReplayReason.ATTEMPT_MISMATCH
    if (
        binding.candidate_reconstruction_digest != reconstruction.candidate_reconstruction_digest
        or binding.candidate_digest != reconstruction.candidate_digest
    ):
        yield ReplayReason.RECONSTRUCTION_MISMATCH


def _refusal(
    run: GeometricSearchRun | None, binding: CandidateAttemptRunBinding | None, reasons: set[ReplayReason]
) -> ReplayAdapterRefusal:
    """Refuse, naming only a run and a binding that bear the identity of their content."""
    codes = tuple(each.value for each in ReplayReason if each in reasons)
    return sealed(
        ReplayAdapterRefusal(
            replay_refusal_id="",
            replay_policy_version=REPLAY_ADAPTER_POLICY_VERSION,
            original_run_id=run.run_id if run is not None and bears_its_identity(run) else None,
            binding_id=binding.binding_id if binding is not None and bears_its_identity(binding) else None,
            reason_codes=codes,
            explanation="not replayed: " + ", ".join(codes),
        )
    )
