"""Examining what is handed over for a binding: which records are well-formed, and which bear their own identity.

Whatever is handed over ends here as a value: a record whose form can be trusted, or None and the reasons why not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

from opfield.practice.attempt import CandidateAttempt
from opfield.practice.binding import CandidateAttemptRunBindingInput, input_digest_of
from opfield.practice.budget import ComputeBudgetDecision
from opfield.practice.form import Flaw, misforms
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.reasons import BindingReason
from opfield.practice.reconstruction import CandidateReconstruction, candidate_digest
from opfield.practice.record import bears_its_identity
from opfield.practice.residual import SearchGateDecision
from opfield.practice.run import GeometricSearchRun

Record = TypeVar("Record")
_R = BindingReason

#: Stands for an input that nobody states, since the records tell it themselves.
UNSTATED: Final = object()

_OF_FLAW: Final = {
    Flaw.NUMBER: _R.NUMBER_MALFORMED,
    Flaw.DIGEST: _R.DIGEST_MALFORMED,
    Flaw.TEXT: _R.TEXT_MALFORMED,
    Flaw.ENTRIES: _R.ENTRIES_TOO_MANY,
}
_PARTS: Final = frozenset({"candidate_attempt", "candidate_reconstruction"})


@dataclass(frozen=True, slots=True)
class Examined:
    """What was handed over, each record None where it is not well-formed.

    Attributes:
        asked: the input; None where the records tell it, too.
        run: the run.
        result: the operator result, trusted but for its attempt and its reconstruction, which stand beside it.
        attempt: the result's attempt.
        reconstruction: the result's reconstruction.
        budget: the budget decision; None where none was handed over, too.
        gate: the gate decision; None where none was handed over, too.
        malformed: what is wrong with forms.
        places: where that is, for people.
        unreproduced: identities that well-formed records bear and their content does not have.
    """

    asked: CandidateAttemptRunBindingInput | None
    run: GeometricSearchRun | None
    result: CandidateOperatorResult | None
    attempt: CandidateAttempt | None
    reconstruction: CandidateReconstruction | None
    budget: ComputeBudgetDecision | None
    gate: SearchGateDecision | None
    malformed: frozenset[BindingReason]
    places: tuple[str, ...]
    unreproduced: frozenset[BindingReason]


def examine(asked: object, run: object, result: object, budget: object, gate: object) -> Examined:
    """Examine what was handed over, whatever it is.

    Args:
        asked: the input, or `UNSTATED`.
        run: the run.
        result: the operator result.
        budget: the budget decision; None where none is handed over.
        gate: the gate decision; None where none is handed over.
    """
    forms = _Forms()
    taken = (
        None
        if asked is UNSTATED
        else forms.take(asked, CandidateAttemptRunBindingInput, "binding_input", _R.BINDING_INPUT_MALFORMED),
        forms.take(run, GeometricSearchRun, "run", _R.ORIGINAL_RUN_MALFORMED, _R.ORIGINAL_RUN_NOT_A_RUN),
        forms.take(
            result,
            CandidateOperatorResult,
            "operator_result",
            _R.OPERATOR_RESULT_MALFORMED,
            _R.OPERATOR_RESULT_NOT_A_RESULT,
            without=_PARTS,
        ),
        forms.take_part(result, "candidate_attempt", CandidateAttempt, _R.CANDIDATE_ATTEMPT_MALFORMED),
        forms.take_part(
            result, "candidate_reconstruction", CandidateReconstruction, _R.CANDIDATE_RECONSTRUCTION_MALFORMED
        ),
        None
        if budget is None
        else forms.take(budget, ComputeBudgetDecision, "budget_decision", _R.BUDGET_DECISION_MALFORMED),
        None if gate is None else forms.take(gate, SearchGateDecision, "gate_decision", _R.GATE_DECISION_MALFORMED),
    )
    return Examined(*taken, frozenset(forms.reasons), tuple(forms.places), frozenset(_unreproduced(*taken)))


@dataclass(slots=True)
class _Forms:
    """What is found while forms are checked."""

    reasons: set[BindingReason] = field(default_factory=set)
    places: list[str] = field(default_factory=list)

    def take(
        self,
        value: object,
        record: type[Record],
        path: str,
        malformed: BindingReason,
        another: BindingReason | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Record | None:
        """Return the value where it is a well-formed record; `another` is the reason where it is no such record."""
        found = misforms(value, record, path, without)
        if not found:
            return cast(Record, value)
        self.reasons.add(another if another is not None and type(value) is not record else malformed)
        self.reasons.update(_OF_FLAW[each.flaw] for each in found if each.flaw in _OF_FLAW)
        if any(".evidence_spans" in each.path for each in found):
            self.reasons.add(_R.EVIDENCE_SPANS_MALFORMED)
        self.places += (f"{place} {flaw}" for place, flaw in found)
        return None

    def take_part(self, result: object, name: str, record: type[Record], malformed: BindingReason) -> Record | None:
        """Return a part of the operator result where it is a well-formed record."""
        if type(result) is not CandidateOperatorResult:
            return None
        return self.take(getattr(result, name, None), record, f"operator_result.{name}", malformed)


def _unreproduced(
    asked: CandidateAttemptRunBindingInput | None,
    run: GeometricSearchRun | None,
    result: CandidateOperatorResult | None,
    attempt: CandidateAttempt | None,
    reconstruction: CandidateReconstruction | None,
    budget: ComputeBudgetDecision | None,
    gate: SearchGateDecision | None,
) -> Iterator[BindingReason]:
    """Yield which of the identities that stand in well-formed records are not those of their content."""
    if asked is not None and asked.input_digest != input_digest_of(asked):
        yield _R.INPUT_DIGEST_UNREPRODUCED
    if run is not None:
        if not bears_its_identity(run):
            yield _R.RUN_ID_UNREPRODUCED
        if not all(bears_its_identity(each) for each in run.candidate_attempts):
            yield _R.EXISTING_ATTEMPT_ID_UNREPRODUCED
    is_whole = result is not None and attempt is not None and reconstruction is not None
    if result is not None and is_whole and not bears_its_identity(result):
        yield _R.OPERATOR_RESULT_ID_UNREPRODUCED
    if attempt is not None and not bears_its_identity(attempt):
        yield _R.ATTEMPT_ID_UNREPRODUCED
    if reconstruction is not None:
        proposed = candidate_digest(reconstruction.problem_frame_digest, reconstruction.role_assignments)
        if reconstruction.candidate_digest != proposed:
            yield _R.CANDIDATE_DIGEST_UNREPRODUCED
        if not bears_its_identity(reconstruction):
            yield _R.RECONSTRUCTION_DIGEST_UNREPRODUCED
    if budget is not None and not bears_its_identity(budget):
        yield _R.BUDGET_ID_UNREPRODUCED
    if gate is not None and not bears_its_identity(gate):
        yield _R.GATE_DECISION_ID_UNREPRODUCED
