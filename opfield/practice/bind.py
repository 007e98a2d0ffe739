"""Binding an attempt to a run: a membership record, or a refusal with every reason (ADR-0232 §4).

Neither function calls what comes before or after it, changes what it is given, reads or writes anything, or raises.
"""

from __future__ import annotations

from typing import Final

from opfield.practice.binding import (
    CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
    STRUCTURALLY_BOUND,
    CandidateAttemptRunBinding,
    CandidateAttemptRunBindingInput,
    CandidateAttemptRunBindingOutcome,
    CandidateAttemptRunBindingRefusal,
    binding_input_for,
)
from opfield.practice.examine import UNSTATED, Examined, examine
from opfield.practice.identity import canonical_id
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.reasons import MEANINGS, BindingReason
from opfield.practice.record import as_json, sealed
from opfield.practice.rules import violated
from opfield.practice.run import GeometricSearchRun

_R = BindingReason

#: What a binding says of why it is one.
_BOUND: Final = ("structurally_admissible",)

#: Places that a refusal's words name at most.
_MOST_PLACES: Final = 10


def bind_candidate_attempt(
    binding_input: object,
    original_run: object,
    candidate_operator_result: object,
    *,
    compute_budget_decision: object = None,
    search_gate_decision: object = None,
) -> CandidateAttemptRunBindingOutcome:
    """Bind the attempt of an operator result to a run, as an input asks; total over any values.

    Args:
        binding_input: a `CandidateAttemptRunBindingInput` that names both records; `binding_input_for` makes it.
        original_run: a `GeometricSearchRun`.
        candidate_operator_result: a `CandidateOperatorResult`.
        compute_budget_decision: a `ComputeBudgetDecision` to check the run's ceilings by; None to trust the run's copy.
        search_gate_decision: a `SearchGateDecision` to check the run's chain by; None to trust the run's copy.

    Returns:
        The binding, or a refusal with every rule that is violated, in the order of `BindingReason`.
    """
    return _outcome(
        examine(binding_input, original_run, candidate_operator_result, compute_budget_decision, search_gate_decision)
    )


def bind_operator_result(
    original_run: object,
    candidate_operator_result: object,
    *,
    compute_budget_decision: object = None,
    search_gate_decision: object = None,
) -> CandidateAttemptRunBindingOutcome:
    """Bind as `bind_candidate_attempt` does, with the input that the two records themselves tell."""
    return _outcome(
        examine(UNSTATED, original_run, candidate_operator_result, compute_budget_decision, search_gate_decision)
    )


def _outcome(given: Examined) -> CandidateAttemptRunBindingOutcome:
    reasons = {*given.malformed, *given.unreproduced, *violated(given)}
    run, result = given.run, given.result
    if reasons or run is None or result is None:
        return _refusal(given, tuple(each for each in BindingReason if each in reasons))
    return _binding(given.asked or binding_input_for(run, result), run, result)


def _binding(
    asked: CandidateAttemptRunBindingInput, run: GeometricSearchRun, result: CandidateOperatorResult
) -> CandidateAttemptRunBinding:
    attempt = result.candidate_attempt
    return sealed(
        CandidateAttemptRunBinding(
            binding_id="",
            binding_policy_version=CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
            input_digest=asked.input_digest,
            original_run_id=run.run_id,
            operator_result_id=result.operator_result_id,
            candidate_attempt_id=attempt.attempt_id,
            attempt_index=attempt.attempt_index,
            candidate_digest=attempt.candidate_digest,
            candidate_reconstruction_digest=result.candidate_reconstruction_digest,
            candidate_attempt_ref=canonical_id(as_json(attempt)),
            budget_charge=attempt.budget_charge,
            depth=attempt.depth,
            step_index=attempt.step_index,
            run_attempt_membership=STRUCTURALLY_BOUND,
            evidence_spans=result.evidence_spans,
            reason_codes=_BOUND,
            explanation="the attempt is structurally admissible as a member of the run's episode",
        )
    )


def _refusal(given: Examined, reasons: tuple[BindingReason, ...]) -> CandidateAttemptRunBindingRefusal:
    """Refuse, naming only what was validated: a well-formed record that bears the identity of its content."""
    wrong = given.unreproduced
    is_whole = given.attempt is not None and given.reconstruction is not None
    asked = None if _R.INPUT_DIGEST_UNREPRODUCED in wrong else given.asked
    run = None if _R.RUN_ID_UNREPRODUCED in wrong else given.run
    result = given.result if is_whole and _R.OPERATOR_RESULT_ID_UNREPRODUCED not in wrong else None
    attempt = None if _R.ATTEMPT_ID_UNREPRODUCED in wrong else given.attempt
    return sealed(
        CandidateAttemptRunBindingRefusal(
            binding_refusal_id="",
            binding_policy_version=CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
            input_digest=None if asked is None else asked.input_digest,
            original_run_id=None if run is None else run.run_id,
            operator_result_id=None if result is None else result.operator_result_id,
            candidate_attempt_id=None if attempt is None else attempt.attempt_id,
            reason_codes=tuple(each.value for each in reasons),
            explanation="; ".join([*(MEANINGS[each] for each in reasons), *given.places[:_MOST_PLACES]]),
        )
    )
