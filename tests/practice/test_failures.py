"""The failure table of ADR-0232 §18: each row is refused, with its reason, and leaves what it was given as it was."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from opfield.practice import (
    BudgetCharge,
    CandidateAttemptRunBindingRefusal,
    CandidateReplayStatus,
    bind_candidate_attempt,
)
from tests.practice.records import asked, attempt, existing, named, proposed, reconstruction, result, run, span


@dataclass(frozen=True)
class Failure:
    """A row of the table: what is handed over, and the reason that the refusal has to give."""

    run: Any
    result: Any
    code: str
    asked: Any = None


def pair(code: str, result: Any, of: Any = None) -> Failure:
    return Failure(of or run(), result, code)


def holding(*attempts: Any) -> Any:
    return run(candidate_attempts=attempts)


def reversed_spans() -> Any:
    spans = (replace(span(4, 9), start=9, end=4),)
    tried, rebuilt = attempt(evidence_spans=spans), reconstruction(evidence_spans=spans)
    return result(with_attempt=tried, with_reconstruction=rebuilt)


FAILURES: Final = {
    "malformed binding input": Failure(run(), result(), "binding_input_malformed", asked="an input"),
    "unsupported binding policy": Failure(
        run(), result(), "binding_policy_unsupported", asked(run(), result(), binding_policy_version="v2")
    ),
    "candidate result does not bind to run_id": pair("run_id_mismatch", result(geometric_search_run_id=named("x"))),
    "candidate attempt does not match operator result": pair("attempt_id_mismatch", result(attempt_id=named("x"))),
    "candidate reconstruction does not match operator result": pair(
        "reconstruction_digest_mismatch", result(candidate_reconstruction_digest=named("x"))
    ),
    "attempt index duplicate": pair("attempt_index_duplicate", result(with_attempt=attempt(attempt_index=0))),
    "attempt ID duplicate": pair("attempt_id_duplicate", result(holding(attempt())), holding(attempt())),
    "candidate digest duplicate in v1": pair(
        "candidate_digest_duplicate",
        result(holding(existing(candidate_digest=proposed()))),
        holding(existing(candidate_digest=proposed())),
    ),
    "budget charge exceeds remaining candidates": pair(
        "candidate_charge_exceeds_run", result(with_attempt=attempt(budget_charge=BudgetCharge(4, 1)))
    ),
    "budget charge exceeds remaining steps": pair(
        "step_charge_exceeds_run", result(with_attempt=attempt(budget_charge=BudgetCharge(1, 9)))
    ),
    "candidate depth exceeds remaining depth": pair("depth_exceeds_run", result(with_attempt=attempt(depth=4))),
    "operator set mismatch": pair("operator_set_id_mismatch", result(operator_set_id="others")),
    "operator result input chain does not bind: gate": pair(
        "gate_decision_id_mismatch", result(gate_decision_id=named("x"))
    ),
    "operator result input chain does not bind: budget": pair("budget_id_mismatch", result(budget_id=named("x"))),
    "operator result input chain does not bind: residuals": pair("residual_ids_mismatch", result(residual_ids=())),
    "operator result input chain does not bind: problem frame": pair(
        "problem_frame_mismatch", result(problem_frame_digest=named("x"))
    ),
    "operator result input chain does not bind: assessment": pair(
        "assessment_id_mismatch", result(original_contract_assessment_id=named("x"))
    ),
    "candidate replay status is not pending": pair(
        "replay_not_pending", result(with_attempt=attempt(replay_status=CandidateReplayStatus.REPLAY_DONE))
    ),
    "replay blockers are present": pair(
        "replay_blockers_present", result(with_attempt=attempt(replay_blockers=("no source",)))
    ),
    "malformed evidence spans": pair("evidence_span_reversed", reversed_spans()),
    "duplicate schema version pairs": pair(
        "schema_versions_not_canonical", result(schema_versions=(("run", "1"), ("run", "1")))
    ),
    "unsorted policy version pairs": pair(
        "policy_versions_not_canonical", result(policy_versions=(("operator", "1"), ("gate", "1")))
    ),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_each_failure_is_refused_with_its_reason_and_changes_nothing(failure: Failure) -> None:
    handed = (failure.asked or asked(failure.run, failure.result), failure.run, failure.result)
    before = pickle.dumps(handed)
    outcome = bind_candidate_attempt(*handed)
    assert isinstance(outcome, CandidateAttemptRunBindingRefusal)
    assert failure.code in outcome.reason_codes
    assert pickle.dumps(handed) == before
    assert outcome == bind_candidate_attempt(*handed)
