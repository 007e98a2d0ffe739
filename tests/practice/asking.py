"""How these tests ask the boundary."""

from __future__ import annotations

from typing import Any

from opfield.practice import (
    CandidateAttemptRunBinding,
    CandidateAttemptRunBindingRefusal,
    CandidateOperatorResult,
    GeometricSearchRun,
    bind_candidate_attempt,
)
from tests.practice import records


def bind(run: GeometricSearchRun, result: CandidateOperatorResult, **more: Any) -> Any:
    """Bind a pair whose forms are right, by the input that it tells."""
    return bind_candidate_attempt(records.asked(run, result), run, result, **more)


def bound(run: GeometricSearchRun, result: CandidateOperatorResult, **more: Any) -> CandidateAttemptRunBinding:
    outcome = bind(run, result, **more)
    assert isinstance(outcome, CandidateAttemptRunBinding), outcome.reason_codes
    return outcome


def refused(run: GeometricSearchRun, result: CandidateOperatorResult, **more: Any) -> CandidateAttemptRunBindingRefusal:
    outcome = bind(run, result, **more)
    assert isinstance(outcome, CandidateAttemptRunBindingRefusal)
    return outcome


def codes(run: GeometricSearchRun, result: CandidateOperatorResult, **more: Any) -> tuple[str, ...]:
    """The reasons for which a pair is refused."""
    return refused(run, result, **more).reason_codes
