"""Schemas of the envelopes in which practice records travel and are kept."""

from __future__ import annotations

from typing import Any, Final

from opfield.core import Envelope, seal
from opfield.practice.binding import CandidateAttemptRunBinding, CandidateAttemptRunBindingRefusal
from opfield.practice.budget import ComputeBudgetDecision
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.record import as_json
from opfield.practice.residual import SearchGateDecision
from opfield.practice.run import GeometricSearchRun

#: Schema of a record's envelope, by the record's class.
SCHEMAS: Final[dict[Any, str]] = {
    GeometricSearchRun: "opfield.geometric_search_run/v1",
    CandidateOperatorResult: "opfield.candidate_operator_result/v1",
    ComputeBudgetDecision: "opfield.compute_budget_decision/v1",
    SearchGateDecision: "opfield.search_gate_decision/v1",
    CandidateAttemptRunBinding: "opfield.candidate_attempt_run_binding/v1",
    CandidateAttemptRunBindingRefusal: "opfield.candidate_attempt_run_binding_refusal/v1",
}


def enveloped(record: object) -> Envelope:
    """Return the envelope of a well-formed record of one of these classes."""
    return seal(SCHEMAS[type(record)], as_json(record))
