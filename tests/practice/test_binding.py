"""Obligations of ADR-0232 §19: what is bound, what is refused, and by which identities."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

import pytest

import opfield.practice
from opfield.practice import (
    BudgetCharge,
    CandidateAttempt,
    CandidateAttemptRunBinding,
    CandidateReplayStatus,
    ComputeBudgetDecision,
    bind_candidate_attempt,
    bind_operator_result,
    binding_input_for,
)
from tests.practice import records
from tests.practice.asking import bind, bound, codes, refused
from tests.practice.records import attempt, budget, existing, gate, named, proposed, reconstruction, result, run, used


def test_public_exports_are_exact() -> None:
    assert sorted(opfield.practice.__all__) == sorted(set(opfield.practice.__all__))
    assert set(opfield.practice.__all__) == {
        *("AttemptIndexPolicy", "BindingReason", "BudgetCharge", "BudgetConsumed", "CandidateAttempt"),
        *("CandidateAttemptRunBinding", "CandidateAttemptRunBindingInput", "CandidateAttemptRunBindingOutcome"),
        *("CandidateAttemptRunBindingRefusal", "CandidateOperatorResult", "CandidateReconstruction"),
        *("CandidateReplayStatus", "ComputeBudgetDecision", "ContractAssessment", "ContractResidual"),
        *("EpisodeDisposition", "GeometricSearchRun", "ReplayAdapterInput", "ReplayAdapterRefusal"),
        *("ReplayAdapterResult", "ReplayDisposition", "ReplayReason", "SealedPracticeTrace"),
        *("SealedPracticeTraceRefusal", "SearchGateDecision", "SourceSpan", "TraceReason", "MEANINGS", "SCHEMAS"),
        *("CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION", "COMPUTE_BUDGET_POLICY_VERSION"),
        *("CONTRACT_ASSESSMENT_POLICY_VERSION", "CONTRACT_RESIDUAL_POLICY_VERSION"),
        *("GEOMETRIC_SEARCH_RUN_POLICY_VERSION", "REPLAY_ADAPTER_POLICY_VERSION", "SEARCH_PERMITTED"),
        *("SEALED_PRACTICE_TRACE_POLICY_VERSION", "SEARCH_GATE_POLICY_VERSION", "STRUCTURALLY_BOUND"),
        *("as_json", "bind_candidate_attempt", "bind_operator_result", "binding_input_for", "candidate_digest"),
        *("build_replay_adapter_input", "canonical_id", "classify_replay_result", "enveloped", "identity_of"),
        *("input_digest_of", "is_valid", "read_record", "record_from", "seal_practice_trace", "sealed"),
    }
    assert all(hasattr(opfield.practice, name) for name in opfield.practice.__all__)


def test_a_valid_pair_gives_one_binding_however_often() -> None:
    one, again = bound(run(), result()), bound(run(), result())
    assert one == again
    assert one.run_attempt_membership == "structurally_bound"
    assert (one.original_run_id, one.operator_result_id) == (run().run_id, result().operator_result_id)
    assert (one.budget_charge, one.depth, one.step_index) == (BudgetCharge(1, 2), 2, 3)
    assert one == bound(run(), result(), compute_budget_decision=budget(), search_gate_decision=gate())


def test_the_records_themselves_tell_the_input() -> None:
    assert bind_operator_result(run(), result()) == bound(run(), result())
    assert binding_input_for(run(), result()) == records.asked(run(), result())


def test_binding_changes_nothing_in_the_run() -> None:
    before, kept = run(), run()
    attempts, consumed, encoded = kept.candidate_attempts, kept.budget_consumed, repr(kept).encode()
    bound(kept, result())
    assert kept == before
    assert kept.candidate_attempts is attempts
    assert kept.budget_consumed is consumed
    assert repr(kept).encode() == encoded


def test_the_original_attempts_and_the_consumed_budget_are_the_same_before_and_after() -> None:
    kept = run()
    values = (asdict(kept)["candidate_attempts"], asdict(kept)["budget_consumed"])
    bound(kept, result())
    refused(kept, result(kept, attempt(depth=9)))
    assert (asdict(kept)["candidate_attempts"], asdict(kept)["budget_consumed"]) == values


def test_identities_are_the_hashes_that_a_few_other_lines_give() -> None:
    asked, outcome = records.asked(run(), result()), bound(run(), result())
    told = asdict(asked)
    assert told.pop("input_digest") == records.sha(told) == outcome.input_digest
    member = asdict(outcome)
    identity, _ = member.pop("binding_id"), member.pop("explanation")
    assert identity == records.sha({**member, "binding_id": ""})
    assert outcome.candidate_attempt_ref == records.sha(asdict(attempt()))
    refusal = asdict(refused(run(), result(with_attempt=attempt(depth=9))))
    identity, _ = refusal.pop("binding_refusal_id"), refusal.pop("explanation")
    assert identity == records.sha({**refusal, "binding_refusal_id": ""})
    assert refusal["input_digest"] is not None
    empty = asdict(bind_candidate_attempt(None, None, None))
    identity, _ = empty.pop("binding_refusal_id"), empty.pop("explanation")
    assert identity == records.sha({**empty, "binding_refusal_id": ""})
    assert empty["original_run_id"] is None


def test_an_explanation_is_outside_every_identity() -> None:
    words: dict[str, Any] = {"explanation": "in other words"}
    assert run(**words).run_id == run().run_id
    other = bind(run(**words), result(run(**words), **words))
    assert other == bound(run(), result())
    binding = bound(run(), result())
    assert records.own_identity(replace(binding, **words)) == binding.binding_id
    refusal = refused(run(), result(with_attempt=attempt(depth=9)))
    assert records.own_identity(replace(refusal, **words)) == refusal.binding_refusal_id


def test_a_result_for_another_run_is_refused() -> None:
    assert codes(run(), result(geometric_search_run_id=named("another run"))) == ("run_id_mismatch",)


def test_a_result_that_names_another_attempt_is_refused() -> None:
    assert codes(run(), result(attempt_id=named("another attempt"))) == ("attempt_id_mismatch",)
    assert codes(run(), result(attempt_index=2)) == ("attempt_index_mismatch",)


def test_an_attempt_at_another_candidate_is_refused() -> None:
    other = attempt(candidate_digest=named("another candidate"))
    assert codes(run(), result(with_attempt=other, candidate_digest=proposed())) == ("attempt_candidate_mismatch",)


def test_a_reconstruction_of_another_candidate_is_refused() -> None:
    other = reconstruction(candidate_digest=proposed(("animal", "dog")), role_assignments=(("animal", "dog"),))
    assert codes(run(), result(with_reconstruction=other)) == ("reconstruction_candidate_mismatch",)


def test_a_candidate_digest_that_its_roles_do_not_have_is_refused() -> None:
    other = reconstruction(role_assignments=(("animal", "dog"),))
    assert codes(run(), result(with_reconstruction=other)) == ("candidate_digest_unreproduced",)


def test_a_reconstruction_with_another_digest_is_refused() -> None:
    assert codes(run(), result(candidate_reconstruction_digest=named("x"))) == ("reconstruction_digest_mismatch",)
    forged = replace(reconstruction(), candidate_reconstruction_digest=named("x"))
    assert codes(run(), result(with_reconstruction=forged)) == ("reconstruction_digest_unreproduced",)


def test_an_attempt_whose_replay_is_not_pending_is_refused() -> None:
    for status in (CandidateReplayStatus.REPLAY_BLOCKED, CandidateReplayStatus.REPLAY_DONE):
        assert codes(run(), result(with_attempt=attempt(replay_status=status))) == ("replay_not_pending",)


def test_an_attempt_with_replay_blockers_is_refused() -> None:
    assert codes(run(), result(with_attempt=attempt(replay_blockers=("x",)))) == ("replay_blockers_present",)


def test_a_position_that_is_taken_is_refused() -> None:
    assert codes(run(), result(with_attempt=attempt(attempt_index=0))) == ("attempt_index_duplicate",)


def test_an_attempt_that_the_run_holds_is_refused() -> None:
    holding = run(candidate_attempts=(existing(), attempt()))
    assert codes(holding, result(holding)) == (
        "attempt_index_duplicate",
        "attempt_id_duplicate",
        "candidate_digest_duplicate",
    )


def test_a_candidate_that_the_run_holds_is_refused() -> None:
    holding = run(candidate_attempts=(existing(candidate_digest=proposed()),))
    assert codes(holding, result(holding)) == ("candidate_digest_duplicate",)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"budget_charge": BudgetCharge(4, 2)}, "candidate_charge_exceeds_run"),
        ({"budget_charge": BudgetCharge(1, 9), "step_index": 0}, "step_charge_exceeds_run"),
        ({"step_index": 9}, "step_index_exceeds_run"),
        ({"depth": 4}, "depth_exceeds_run"),
    ],
)
def test_a_charge_beyond_what_the_run_has_left_is_refused(changes: dict[str, Any], code: str) -> None:
    assert codes(run(), result(with_attempt=attempt(**changes))) == (code,)


@pytest.mark.parametrize(
    "changes",
    [{"budget_charge": BudgetCharge(3, 2)}, {"budget_charge": BudgetCharge(1, 7)}, {"step_index": 8}, {"depth": 3}],
)
def test_a_charge_of_all_that_the_run_has_left_is_bound(changes: dict[str, Any]) -> None:
    bound(run(), result(with_attempt=attempt(**changes)))


def test_a_run_that_is_past_its_own_depth_takes_nobody() -> None:
    deep = run(budget_consumed=used(depth_reached=4))
    assert codes(deep, result(deep)) == ("depth_exceeds_run",)


@pytest.mark.parametrize(
    ("charge", "code"),
    [(BudgetCharge(0, 2), "candidate_charge_not_positive"), (BudgetCharge(1, 0), "step_charge_not_positive")],
)
def test_a_charge_of_nothing_is_refused(charge: BudgetCharge, code: str) -> None:
    assert codes(run(), result(with_attempt=attempt(budget_charge=charge))) == (code,)


def test_a_charge_that_the_operator_does_not_declare_is_refused() -> None:
    assert codes(run(), result(budget_charge=BudgetCharge(2, 2))) == ("charge_mismatch",)


def test_a_parallel_run_is_refused() -> None:
    parallel = run(budget_consumed=used(max_parallelism=2))
    assert codes(parallel, result(parallel)) == ("parallelism_unsupported",)


def test_another_operator_set_is_refused() -> None:
    assert codes(run(), result(operator_set_id="others")) == ("operator_set_id_mismatch",)
    assert codes(run(), result(operator_set_version="2")) == ("operator_set_version_mismatch",)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"gate_decision_id": named("x")}, "gate_decision_id_mismatch"),
        ({"budget_id": named("x")}, "budget_id_mismatch"),
        ({"residual_ids": gate().residual_ids[::-1]}, "residual_ids_mismatch"),
        ({"original_contract_assessment_id": named("x")}, "assessment_id_mismatch"),
    ],
)
def test_a_result_that_started_from_something_else_is_refused(changes: dict[str, Any], code: str) -> None:
    assert codes(run(), result(**changes)) == (code,)


def test_a_result_for_another_problem_is_refused() -> None:
    assert codes(run(), result(problem_frame_digest=named("x"))) == (
        "problem_frame_mismatch",
        "reconstruction_frame_mismatch",
    )


@pytest.mark.parametrize(
    "other", [budget(max_steps=11), budget(max_depth=2), budget(max_candidates=5), budget(gate_decision_id=named("x"))]
)
def test_a_budget_decision_that_is_not_the_runs_is_refused(other: ComputeBudgetDecision) -> None:
    assert codes(run(), result(), compute_budget_decision=other) == ("budget_decision_mismatch",)


def test_ceilings_that_the_budget_decision_does_not_have_are_refused() -> None:
    inflated = run(budget_consumed=used(max_steps=100))
    assert codes(inflated, result(inflated), compute_budget_decision=budget()) == ("budget_decision_mismatch",)


def test_a_gate_decision_that_is_not_the_runs_is_refused() -> None:
    closed = gate(gate_disposition="search_refused")
    shut = run(gate_decision_id=closed.gate_decision_id)
    assert codes(run(), result(), search_gate_decision=closed) == ("gate_decision_mismatch",)
    assert codes(shut, result(shut), search_gate_decision=closed) == ("gate_decision_mismatch",)


def test_evidence_keeps_its_order_and_its_duplicates() -> None:
    spans = records.SPANS
    assert bound(run(), result()).evidence_spans == spans == (spans[0], spans[1], spans[0])
    turned = spans[::-1][1:] + spans[:1]
    other = result(
        with_attempt=attempt(evidence_spans=turned), with_reconstruction=reconstruction(evidence_spans=turned)
    )
    assert bound(run(), other).evidence_spans == turned
    assert bound(run(), other).binding_id != bound(run(), result()).binding_id


def test_evidence_that_differs_between_the_records_is_refused() -> None:
    fewer = records.SPANS[:2]
    assert codes(run(), result(with_attempt=attempt(evidence_spans=fewer))) == ("attempt_spans_mismatch",)
    assert codes(run(), result(evidence_spans=fewer)) == ("attempt_spans_mismatch", "reconstruction_spans_mismatch")


def test_no_binding_record_has_a_forbidden_field() -> None:
    forbidden = {
        *("answer", "final_answer", "served_output", "proof", "verdict", "promotion", "mutation", "teaching_update"),
        *("pack_update", "policy_update", "identity_update", "workbench_state", "runtime_effect", "confidence"),
        *("score", "rank", "priority", "selected", "selected_candidate", "best", "best_candidate"),
        *("serving_allowed", "runnable"),
    }
    every = [getattr(opfield.practice, name) for name in opfield.practice.__all__]
    kinds = [each for each in every if isinstance(each, type) and hasattr(each, "__dataclass_fields__")]
    assert CandidateAttemptRunBinding in kinds
    assert len(kinds) >= 14
    for kind in kinds:
        assert not forbidden & {each.name for each in fields(kind)}, kind


def test_a_run_whose_attempts_leave_their_order_open_is_refused() -> None:
    mixed = run(candidate_attempts=(existing(2), existing(0)))
    assert codes(mixed, result(mixed)) == ("existing_attempts_ambiguous",)
    twice: tuple[CandidateAttempt, ...] = (existing(0), existing(0))
    assert "existing_attempts_ambiguous" in codes(run(candidate_attempts=twice), result(run(candidate_attempts=twice)))


def test_a_gap_needs_a_run_that_declares_positions() -> None:
    contiguous = opfield.practice.AttemptIndexPolicy.CONTIGUOUS
    strict = run(attempt_index_policy=contiguous)
    bound(strict, result(strict))
    far = attempt(attempt_index=2)
    assert codes(strict, result(strict, far)) == ("attempt_index_unsupported",)
    bound(run(), result(with_attempt=far))
    assert codes(run(), result(with_attempt=attempt(attempt_index=4))) == ("attempt_index_unsupported",)
    gapped = run(attempt_index_policy=contiguous, candidate_attempts=(existing(1),))
    assert codes(gapped, result(gapped, far)) == ("existing_attempts_ambiguous", "attempt_index_unsupported")
