"""The trial boundary: whatever a runner answers, its trial ends as valid evidence."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign.boundary import is_coroutine_runner, run_trial, run_trial_async
from opfield.campaign.evidence import Stopwatch, TrialEvidence, failure_evidence, timeout_failure
from opfield.core import Failure, MissingReason, Status
from opfield.experiment import Coordinate, TrialRequest, TrialResult
from opfield.warehouse.artifacts import INLINE_LIMIT
from tests.campaign import runners
from tests.campaign.runners import GOOD, SPEC, context_of, task_of
from tests.campaign.trials import answer, assert_valid, failure_of, keys, reasons, scalars, values


def test_a_mapping_is_a_success_with_its_metrics_in_order() -> None:
    evidence = answer(GOOD)
    assert evidence.status is Status.SUCCESS
    assert values(evidence) == {"hit": 1.0, "latency": 0.25, "recall": 0.5, "words": 3.0}
    assert evidence.failure is None
    assert evidence.artifact_id is None
    assert evidence.attempt == 1
    assert_valid(evidence)


def test_a_metric_without_a_value_has_the_reason_given_or_was_not_emitted() -> None:
    evidence = answer(
        TrialResult(
            {"recall": None, "hit": None}, missing={"recall": "judge_failed", "words": MissingReason.NOT_APPLICABLE}
        )
    )
    assert evidence.status is Status.SUCCESS
    assert reasons(evidence) == {
        "hit": "not_emitted",
        "latency": "not_emitted",
        "recall": "judge_failed",
        "words": "not_applicable",
    }
    assert_valid(evidence)


@pytest.mark.parametrize(
    ("result", "code", "said"),
    [
        ({**GOOD, "recall": math.nan}, "not_finite", "metric 'recall' is nan"),
        ({**GOOD, "recall": -math.inf}, "not_finite", "metric 'recall' is -inf"),
        ({**GOOD, "latency": 10**400}, "not_finite", "metric 'latency' is inf"),
        ({**GOOD, "recall": 1.5}, "out_of_range", "metric 'recall' is 1.5, above its declared upper bound 1"),
        ({**GOOD, "hit": 0.5}, "out_of_range", "metric 'hit' is 0.5"),
        ({**GOOD, "words": 2.5}, "out_of_range", "metric 'words' is 2.5"),
        ({**GOOD, "latency": 1e101}, "out_of_range", "metric 'latency' is 1e+101, beyond the largest magnitude"),
        ({**GOOD, "recall": True}, "not_a_number", "metric 'recall' is True"),
        ({**GOOD, "recall": "0.5"}, "not_a_number", "metric 'recall' is '0.5', a str"),
        ({**GOOD, "recall": Decimal("0.5")}, "not_a_number", "Decimal"),
        ({**GOOD, "recal": 0.9}, "unknown_metric", "did you mean 'recall'? known: hit, latency, recall, words"),
        ({**GOOD, "recal": 0.9}, "unknown_metric", "0.9"),
        ({1: 0.9}, "unknown_metric", "unknown metric '1'"),
        (TrialResult(GOOD, missing={"recal": "judge_failed"}), "unknown_metric", "missing has 'judge_failed'"),
        (TrialResult(missing={"recall": "judge_fail"}), "invalid_answer", "not_applicable, judge_failed"),
        (TrialResult(GOOD, missing={"recall": "judge_failed"}), "invalid_answer", "both a value and a missing reason"),
        (None, "invalid_answer", "the runner answered None, a NoneType; return a mapping"),
        (0.5, "invalid_answer", "the runner answered 0.5"),
        ([("recall", 0.5)], "invalid_answer", "a list"),
        (TrialResult(metrics=[1]), "invalid_answer", "metrics is [1], a list, not a mapping"),  # type: ignore[arg-type]
        (TrialResult(GOOD, coordinate=Coordinate("candidate", "baseline", "0", 0)), "wrong_coordinate", "baseline"),
        (TrialResult(GOOD, status="done"), "invalid_answer", "status 'done' is none of success"),  # type: ignore[arg-type]
        (TrialResult(GOOD, failure=Failure("odd", "all went well")), "invalid_answer", "all went well"),
        (TrialResult(GOOD, status=Status.CANCELLED, failure="x"), "invalid_answer", "not a Failure"),  # type: ignore[arg-type]
        (TrialResult(GOOD, output={1, 2}), "unserialisable_output", "a set has no canonical form"),
        (TrialResult(GOOD, output="\ud800"), "unserialisable_output", "surrogate"),
        (TrialResult(GOOD, observations={"x": math.nan}), "unserialisable_output", "not finite"),
        (TrialResult(GOOD, artifact_id="sha256:" + "0" * 64), "invalid_answer", "was not retained in this trial"),
        (TrialResult(GOOD, cost_usd=-0.1), "invalid_answer", "cost_usd is -0.1"),
        (TrialResult(GOOD, cost_usd=True), "invalid_answer", "cost_usd is True"),
        (TrialResult(GOOD, cost_usd=math.inf), "invalid_answer", "cost_usd is inf"),
        (TrialResult(GOOD, input_tokens=-1), "invalid_answer", "input_tokens is -1"),
        (TrialResult(GOOD, input_tokens=2**53), "invalid_answer", "input_tokens is 9007199254740992"),
        (TrialResult(GOOD, output_tokens=1.5), "invalid_answer", "output_tokens is 1.5"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_is_an_infrastructure_failure_that_names_it(
    result: Any, code: str, said: str
) -> None:
    evidence = answer(result)
    assert evidence.status is Status.INFRASTRUCTURE_FAILURE
    assert failure_of(evidence).code == code
    assert said in failure_of(evidence).message
    assert not failure_of(evidence).is_retryable
    assert_valid(evidence)


def test_a_refused_value_leaves_the_other_measurements() -> None:
    evidence = answer({**GOOD, "recall": math.nan, "words": -1})
    assert values(evidence) == {"hit": 1.0, "latency": 0.25, "recall": None, "words": None}
    assert reasons(evidence) == {"hit": None, "latency": None, "recall": "not_finite", "words": "not_emitted"}
    assert "'recall'" in failure_of(evidence).message
    assert "'words'" in failure_of(evidence).message


def test_an_unknown_metric_is_named_but_not_measured() -> None:
    evidence = answer({"recal": 0.9, "hit": 1})
    assert reasons(evidence) == {
        "hit": None,
        "latency": "not_emitted",
        "recall": "not_emitted",
        "words": "not_emitted",
    }


def test_thousands_of_unknown_metrics_give_one_short_message() -> None:
    evidence = answer({f"{'m' * 10_000}{number}": 1 for number in range(5_000)})
    assert failure_of(evidence).code == "unknown_metric"
    assert_valid(evidence)


def test_numbers_of_other_libraries_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    evidence = answer(
        {"recall": numpy.float32(0.5), "hit": numpy.bool_(True), "words": numpy.int64(3), "latency": Fraction(1, 4)}
    )
    assert values(evidence) == {"hit": 1.0, "latency": 0.25, "recall": 0.5, "words": 3.0}
    assert_valid(evidence)


def test_a_stated_failure_keeps_its_status_and_reported_measurements() -> None:
    evidence = answer(TrialResult({"recall": 0.5}, Status.DOMAIN_FAILURE, Failure("no_answer", "none")))
    assert evidence.status is Status.DOMAIN_FAILURE
    assert failure_of(evidence) == Failure("no_answer", "none")
    assert values(evidence) == {"recall": 0.5}


def test_a_status_may_be_its_name_and_a_failure_without_reason_is_unspecified() -> None:
    evidence = answer(TrialResult(status="cancelled"))  # type: ignore[arg-type]
    assert evidence.status is Status.CANCELLED
    assert failure_of(evidence).code == "unspecified"


def test_output_and_observations_are_retained_without_the_coordinate() -> None:
    context = context_of(lambda _: TrialResult(GOOD, output=["a"], observations={"cache": "hit"}))
    first, second = run_trial(context, task_of(0)), run_trial(context, task_of(1))
    assert first.artifact_id == second.artifact_id == first.artifacts[0].artifact_id
    assert first.artifacts[0].schema == "opfield.trial/v1"
    assert first.artifacts[0].content == b'{"observations":{"cache":"hit"},"output":["a"]}'


def test_the_named_artifact_is_the_evidence_and_all_are_kept_once() -> None:
    def runner(trial: TrialRequest) -> TrialResult:
        named = trial.artifacts.put({"ranking": [1]})
        trial.artifacts.put("notes", media_type="text/plain")
        trial.artifacts.put({"ranking": [1]})
        return TrialResult(GOOD, artifact_id=named)

    evidence = run_trial(context_of(runner), task_of())
    assert len(evidence.artifacts) == 2
    assert evidence.artifact_id == evidence.artifacts[0].artifact_id


def test_large_output_goes_below_the_warehouse(tmp_path: Path) -> None:
    evidence = answer(TrialResult(GOOD, output="x" * INLINE_LIMIT), root=str(tmp_path))
    assert evidence.artifacts[0].content is None
    assert (tmp_path / (evidence.artifacts[0].location or "")).is_file()


def test_an_output_that_cannot_be_written_now_is_a_retryable_failure(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("in the way")
    evidence = answer(TrialResult(GOOD, output="x" * INLINE_LIMIT), root=str(tmp_path))
    assert failure_of(evidence).code == "storage"
    assert failure_of(evidence).is_retryable
    assert values(evidence)["recall"] == 0.5
    assert_valid(evidence)


@pytest.mark.parametrize(
    "arguments",
    [{"content": {1}}, {"content": "\ud800"}, {"content": b"", "media_type": 3}, {"content": b"", "schema": b"x"}],
)
def test_an_artifact_that_cannot_be_kept_is_refused_where_it_is_left(arguments: dict[str, Any]) -> None:
    evidence = run_trial(context_of(lambda trial: trial.artifacts.put(**arguments)), task_of())  # type: ignore[arg-type, return-value]
    assert failure_of(evidence).code == "unserialisable_output"
    assert_valid(evidence)


def test_a_runner_that_changes_what_it_was_given_changes_no_other_trial() -> None:
    seen = []

    def runner(trial: TrialRequest) -> Mapping[str, Any]:
        seen.append(repr((trial.spec, trial.case, trial.groups)))
        trial.spec["query"]["fusion"].append("spoilt")
        trial.spec["new"] = 1
        trial.case["tags"].clear()
        trial.groups["role"] = "guest"  # type: ignore[index]
        return GOOD

    context = context_of(runner)
    run_trial(context, task_of())
    run_trial(context, task_of())
    assert seen[0] == seen[1]
    assert context.specs["candidate"].payload == SPEC


def test_the_request_says_what_is_asked() -> None:
    def runner(trial: TrialRequest) -> TrialResult:
        return TrialResult(
            GOOD, coordinate=trial.coordinate, output=[trial.seed.hex, trial.attempt, dict(trial.groups), trial.case]
        )

    evidence = run_trial(context_of(runner), task_of(2, attempt=3), "thread-1")
    assert evidence.status is Status.SUCCESS
    assert evidence.attempt == 3
    assert evidence.worker == "thread-1"
    assert evidence.artifacts[0].content == (
        b'{"observations":{},"output":["0000000000000007",3,{"role":"admin"},{"number":2,"tags":["x"]}]}'
    )


class AsyncRunner:
    async def __call__(self, _trial: TrialRequest) -> dict[str, Any]:
        return dict(GOOD)


@pytest.mark.parametrize("runner", [runners.good_async, AsyncRunner(), functools.partial(runners.good_async)])
def test_a_coroutine_runner_is_run_to_its_end(runner: Callable[[TrialRequest], Any]) -> None:
    assert is_coroutine_runner(runner)
    assert run_trial(context_of(runner), task_of()).status is Status.SUCCESS
    assert asyncio.run(run_trial_async(context_of(runner), task_of())).status is Status.SUCCESS


def test_a_plain_callable_that_returns_a_coroutine_is_run_too() -> None:
    assert not is_coroutine_runner(lambda trial: runners.good_async(trial))
    assert not is_coroutine_runner(AsyncRunner)
    evidence = run_trial(context_of(lambda trial: runners.good_async(trial)), task_of())
    assert evidence.status is Status.SUCCESS


def test_a_coroutine_runner_runs_where_a_loop_is_turning_already() -> None:
    async def notebook() -> TrialEvidence:
        return run_trial(context_of(runners.good_async), task_of())

    assert asyncio.run(notebook()).status is Status.SUCCESS


def test_cancelling_a_trial_passes_on_but_a_runner_that_raises_it_does_not() -> None:
    async def cancelled() -> None:
        trial = asyncio.create_task(run_trial_async(context_of(runners.stuck_on_zero_async), task_of()))
        await asyncio.sleep(0)
        trial.cancel()
        await trial

    async def raising(trial: TrialRequest) -> NoReturn:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert failure_of(asyncio.run(run_trial_async(context_of(raising), task_of()))).code == "cancelled_error"


class EvilMapping(Mapping[str, float]):
    def __getitem__(self, key: str) -> float:
        raise SystemExit(key)

    def __iter__(self) -> Any:
        return iter(("recall",))

    def __len__(self) -> int:
        return 1


class EvilResult(TrialResult):
    @property
    def status(self) -> Status:
        raise ZeroDivisionError("no status today")


class EvilNumber(float):
    def __float__(self) -> float:
        raise ArithmeticError

    def __repr__(self) -> str:
        raise ArithmeticError


@pytest.mark.parametrize(
    "value",
    [EvilMapping(), object.__new__(EvilResult), {"recall": EvilNumber(0.5)}, TrialResult(metrics=EvilMapping())],
)
def test_an_answer_that_raises_while_it_is_read_is_invalid(value: Any) -> None:
    evidence = answer(value)
    assert failure_of(evidence).code == "invalid_answer"
    assert failure_of(evidence).message.startswith("reading the answer raised")
    assert evidence.artifacts[0].schema == "opfield.failure/v1"
    assert_valid(evidence)


def test_the_evidence_of_an_executor_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_valid(failure_evidence(task_of(), timeout_failure(2.5), Stopwatch(), "thread-0"))
    monkeypatch.setenv("TEST_KEY", "hunter2-hunter2")
    scrubbed = failure_evidence(task_of(), Failure("executor", "hunter2-hunter2 was refused"), secrets=["TEST_KEY"])
    assert failure_of(scrubbed).message == "*** was refused"
    cancelled = failure_evidence(task_of(), Failure("not_attempted", "never tried"), status=Status.CANCELLED)
    assert cancelled.status is Status.CANCELLED
    assert_valid(cancelled)


def test_the_clocks_agree() -> None:
    evidence = run_trial(context_of(runners.slow), task_of())
    started, finished = (datetime.fromisoformat(at) for at in (evidence.started_at, evidence.finished_at))
    assert evidence.duration_s >= 0.2
    assert (finished - started).total_seconds() == pytest.approx(evidence.duration_s, abs=2e-6)


names = st.one_of(st.sampled_from([metric.name for metric in runners.METRICS]), st.text(max_size=5), keys)


mappings = st.one_of(st.dictionaries(names, scalars, max_size=6), scalars)


anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)


results = st.builds(
    TrialResult,
    metrics=mappings,
    status=st.one_of(st.sampled_from(Status), st.sampled_from([str(status) for status in Status]), scalars),
    failure=st.one_of(st.none(), st.builds(Failure, scalars, scalars, scalars), scalars),
    missing=st.one_of(st.dictionaries(names, st.one_of(st.sampled_from(MissingReason), scalars), max_size=3), scalars),
    artifact_id=st.one_of(st.none(), scalars),
    output=anything,
    observations=st.one_of(st.dictionaries(keys, anything, max_size=2), scalars),
    cost_usd=scalars,
    input_tokens=scalars,
    output_tokens=scalars,
    coordinate=st.one_of(st.none(), st.just(task_of().coordinate), scalars),
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(results, mappings, anything))
def test_any_answer_gives_valid_evidence(value: Any) -> None:
    assert_valid(answer(value))
