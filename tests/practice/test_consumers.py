"""What follows a binding: it is evidence of membership to a replay and to a trace, and closes neither (§11, §12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from opfield.practice import (
    CandidateAttemptRunBinding,
    EpisodeDisposition,
    ReplayAdapterInput,
    ReplayAdapterRefusal,
    SealedPracticeTrace,
    SealedPracticeTraceRefusal,
    build_replay_adapter_input,
    classify_replay_result,
    seal_practice_trace,
)
from tests.practice import records
from tests.practice.asking import bound
from tests.practice.records import attempt, named, reconstruction, result, run
from tests.practice.test_bad_input import ANYTHING


def handed() -> dict[str, Any]:
    return {
        "original_run": run(),
        "binding": bound(run(), result()),
        "candidate_attempt": attempt(),
        "candidate_reconstruction": reconstruction(),
        "candidate_operator_result": result(),
    }


def replayable() -> ReplayAdapterInput:
    outcome = build_replay_adapter_input(**handed())
    assert isinstance(outcome, ReplayAdapterInput)
    return outcome


def reasons(**changes: Any) -> tuple[str, ...]:
    outcome = build_replay_adapter_input(**{**handed(), **changes})
    assert isinstance(outcome, ReplayAdapterRefusal)
    return outcome.reason_codes


def test_a_bound_attempt_may_be_replayed_although_the_run_does_not_hold_it() -> None:
    assert replayable().binding_id == bound(run(), result()).binding_id
    assert attempt() not in run().candidate_attempts
    without = build_replay_adapter_input(**{**handed(), "candidate_operator_result": None})
    assert without == replayable()


def test_a_replay_of_what_is_not_bound_is_refused() -> None:
    binding = bound(run(), result())
    assert reasons(original_run=run(run_disposition="other")) == ("run_id_mismatch",)
    assert reasons(candidate_attempt=attempt(depth=1)) == ("attempt_mismatch",)
    assert reasons(candidate_reconstruction=reconstruction(evidence_spans=())) == ("reconstruction_mismatch",)
    assert reasons(candidate_operator_result=result(reason_codes=())) == ("operator_result_mismatch",)
    assert reasons(binding=records.seal(replace(binding, binding_policy_version="v2"))) == (
        "binding_policy_unsupported",
    )
    assert reasons(binding=replace(binding, depth=1)) == ("identity_unreproduced",)
    assert reasons(original_run=replace(run(), run_disposition="other")) == ("identity_unreproduced",)


@pytest.mark.parametrize("make", ANYTHING.values(), ids=ANYTHING.keys())
def test_anything_in_place_of_a_record_is_refused_by_what_follows(make: Any) -> None:
    for name in ("original_run", "binding", "candidate_attempt", "candidate_reconstruction"):
        assert len(reasons(**{name: make()})) == 1
    outcome = seal_practice_trace(make(), [make()], [make()], [make()])
    assert outcome.reason_codes == (  # type: ignore[union-attr]  # a trace has no reasons, and the test fails then
        "run_malformed",
        "operator_result_malformed",
        "binding_malformed",
        "replay_malformed",
    )


def sealed(*replays: Any) -> SealedPracticeTrace:
    outcome = seal_practice_trace(run(), [result()], [bound(run(), result())], replays)
    assert isinstance(outcome, SealedPracticeTrace)
    return outcome


def test_a_binding_alone_leaves_the_episode_pending() -> None:
    assert sealed().episode_disposition is EpisodeDisposition.MEMBERSHIP_PENDING
    assert [kind for kind, _ in sealed().trace_records] == [
        "GeometricSearchRun",
        "CandidateOperatorResult",
        "CandidateAttemptRunBinding",
    ]


def test_a_binding_in_place_of_a_replay_is_refused() -> None:
    binding = bound(run(), result())
    outcome = seal_practice_trace(run(), [result()], [binding], [binding])
    assert isinstance(outcome, SealedPracticeTraceRefusal)
    assert outcome.reason_codes == ("binding_is_no_replay",)


def test_a_replay_alone_closes_an_episode() -> None:
    closed, left = classify_replay_result(replayable(), ()), classify_replay_result(replayable(), ("colour",))
    refusal = build_replay_adapter_input(**{**handed(), "candidate_attempt": None})
    assert sealed(closed).episode_disposition is EpisodeDisposition.REPLAY_CLOSED
    assert sealed(left).episode_disposition is EpisodeDisposition.REPLAY_OPEN
    assert sealed(left, closed).episode_disposition is EpisodeDisposition.REPLAY_CLOSED
    assert sealed(refusal).episode_disposition is EpisodeDisposition.REPLAY_REFUSED


def test_a_trace_of_records_that_do_not_belong_together_is_refused() -> None:
    binding, closed = bound(run(), result()), classify_replay_result(replayable(), ())
    other = run(run_disposition="other")
    cases: list[tuple[tuple[Any, ...], str]] = [
        ((other, [result()], [], []), "record_of_another_run"),
        ((run(), [], [binding], []), "binding_without_operator_result"),
        ((run(), [result()], [], [closed]), "replay_without_binding"),
        ((run(), [result(), result()], [binding], []), "record_twice"),
        ((run(), [result()], [replace(binding, depth=1)], []), "identity_unreproduced"),
    ]
    for records_of_it, code in cases:
        outcome = seal_practice_trace(*records_of_it)
        assert isinstance(outcome, SealedPracticeTraceRefusal)
        assert outcome.reason_codes == (code,)


def test_a_forged_binding_is_no_evidence() -> None:
    binding: CandidateAttemptRunBinding = bound(run(), result())
    forged = records.seal(replace(binding, candidate_attempt_ref=named("x")))
    assert reasons(binding=forged) == ("attempt_mismatch",)
