"""Executors: every kind ends every trial as evidence, whatever the runner does."""

from __future__ import annotations

import asyncio
import textwrap
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from opfield.campaign.coroutines import CoroutineExecutor
from opfield.campaign.executors import (
    FutureExecutor,
    InlineExecutor,
    ThreadExecutor,
    open_executor,
)
from opfield.campaign.processes import ProcessExecutor
from opfield.core import Failure, Status
from opfield.errors import DeclarationError, UnknownNameError
from opfield.experiment import Runner, TrialRequest
from tests.campaign import runners
from tests.campaign.executing import evidence_of, failure_of, opened, start, until
from tests.campaign.runners import context_of, task_of

ALL = ("inline", "threads", "processes")


@pytest.mark.parametrize("kind", ALL)
def test_trials_run_and_name_their_slot(kind: str) -> None:
    with opened(kind, runners.good) as executor:
        found = [evidence_of(executor.submit(task_of(case), 30.0)) for case in range(6)]
    assert [each.coordinate.case_id for each in found] == list("012345")
    assert {each.status for each in found} == {Status.SUCCESS}
    assert {each.worker.partition("-")[0] for each in found} <= {"inline", "thread", "process"}


def test_coroutines_run_with_a_bound_on_those_in_flight() -> None:
    in_flight, most = 0, 0

    async def counting(trial: object) -> dict[str, float]:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1
        return {}

    with opened("coroutines", counting, workers=3) as executor:
        futures = [executor.submit(task_of(case), 30.0) for case in range(6)]
        assert {evidence_of(future).status for future in futures} == {Status.SUCCESS}
    assert most == 3


@pytest.mark.parametrize("kind", ALL)
def test_bad_runners_end_as_evidence_everywhere(kind: str) -> None:
    bad = {
        runners.raising: "value_error",
        runners.failing: "no_answer",
        runners.leaving: "system_exit",
        runners.disconnected: "connection",
        runners.not_finite: "not_finite",
        runners.misspelt: "unknown_metric",
        runners.misplaced: "wrong_coordinate",
        runners.unserialisable: "unserialisable_output",
    }
    every = BadRunners(tuple(bad))  # type: ignore[arg-type]  # they answer what no runner should
    with opened(kind, every, workers=1) as executor:
        for number, code in enumerate(bad.values()):
            assert failure_of(executor.submit(task_of(attempt=number + 1), 30.0)).code == code


class BadRunners:
    """Runs the bad runner that has the number of the attempt."""

    def __init__(self, every: tuple[Runner, ...]) -> None:
        self.every = every

    def __call__(self, trial: TrialRequest) -> Any:
        return self.every[trial.attempt - 1](trial)


def test_ctrl_c_passes_through_inline() -> None:
    with opened("inline", runners.interrupting) as executor, pytest.raises(KeyboardInterrupt):
        executor.submit(task_of(), None)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_a_runner_that_raises_keyboard_interrupt_does_not_stop_the_executor(kind: str) -> None:
    with opened(kind, runners.interrupting, workers=1) as executor:
        assert failure_of(executor.submit(task_of(), 30.0)).code == "keyboard_interrupt"
        assert failure_of(executor.submit(task_of(), 30.0)).code == "keyboard_interrupt"


@pytest.mark.parametrize(
    ("kind", "runner"),
    [
        ("threads", runners.stuck_on_zero),
        ("processes", runners.stuck_on_zero),
        ("coroutines", runners.stuck_on_zero_async),
        ("coroutines", runners.blocks_loop_on_zero_async),
    ],
)
def test_a_trial_that_never_returns_times_out_and_its_slot_goes_on(kind: str, runner: Runner) -> None:
    with opened(kind, runner, workers=1, now=True) as executor:
        late, next_one = executor.submit(task_of(0), 0.5), executor.submit(task_of(1), 30.0)
        evidence = evidence_of(late)
        assert evidence.failure == Failure("timeout", "no answer within 0.5 s", is_retryable=True)
        assert evidence.status is Status.INFRASTRUCTURE_FAILURE
        assert 0.5 <= evidence.duration_s < 5
        assert evidence_of(next_one).status is Status.SUCCESS


def test_several_late_trials_each_free_their_slot() -> None:
    with opened("threads", runners.stuck_on_zero, workers=2, now=True) as executor:
        late = [executor.submit(task_of(0), timeout_s) for timeout_s in (0.4, 0.1, 0.2, 0.3)]
        assert {failure_of(future).code for future in late} == {"timeout"}
        assert evidence_of(executor.submit(task_of(1), None)).status is Status.SUCCESS


@pytest.mark.parametrize(
    ("kind", "runner"),
    [
        ("threads", runners.stuck_on_zero),
        ("processes", runners.stuck_on_zero),
        ("coroutines", runners.stuck_on_zero_async),
        ("coroutines", runners.disobedient_async),
        ("coroutines", runners.blocks_loop_on_zero_async),
    ],
)
def test_closing_now_waits_for_no_trial(kind: str, runner: Runner) -> None:
    executor = open_executor(kind, context_of(runner), 1)
    running, waiting = executor.submit(task_of(0), None), executor.submit(task_of(1), None)
    until(running.running)
    before = time.monotonic()
    executor.close(now=True)
    assert time.monotonic() - before < 3
    for future in (running, waiting):
        with pytest.raises(CancelledError):
            future.result(0)
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(task_of(), None)
    executor.close(now=True)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_closing_waits_for_all_trials_otherwise(kind: str) -> None:
    executor = open_executor(kind, context_of(runners.slow), 2)
    futures = [executor.submit(task_of(case), 30.0) for case in range(5)]
    executor.close(now=False)
    assert {future.result(0).status for future in futures} == {Status.SUCCESS}


def test_a_waiting_trial_can_be_cancelled() -> None:
    with opened("threads", runners.slow, workers=1) as executor:
        first, second, third = (executor.submit(task_of(case), 30.0) for case in range(3))
        assert second.cancel()
        assert evidence_of(first).status is evidence_of(third).status is Status.SUCCESS


def test_a_disobedient_coroutine_does_not_keep_its_slot() -> None:
    with opened("coroutines", runners.disobedient_async, workers=1, now=True) as executor:
        assert failure_of(executor.submit(task_of(0), 0.1)).code == "timeout"
        assert failure_of(executor.submit(task_of(1), 0.1)).code == "timeout"


def test_a_coroutine_that_cancels_itself_is_a_failure() -> None:
    with opened("coroutines", runners.cancels_itself_async, workers=1) as executor:
        assert failure_of(executor.submit(task_of(), 30.0)).code == "cancelled_error"


def test_the_loop_survives_a_task_that_exits_beside_its_trial() -> None:
    with opened("coroutines", runners.exits_beside_itself_async, workers=1) as executor:
        assert evidence_of(executor.submit(task_of(0), 30.0)) is not None
        assert evidence_of(executor.submit(task_of(1), 30.0)) is not None


def test_an_executor_of_the_standard_library_is_adapted_and_left_open() -> None:
    with ThreadPoolExecutor(2) as pool:
        executor = open_executor(pool, context_of(runners.stuck_on_short_zero))
        futures = [executor.submit(task_of(case), 0.5) for case in range(6)]
        assert failure_of(futures[0]).code == "timeout"
        assert {evidence_of(future).status for future in futures[1:]} == {Status.SUCCESS}
        executor.close(now=False)
        assert pool.submit(int).result() == 0


def test_a_process_pool_is_adapted_and_its_death_is_a_retryable_failure() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        executor = open_executor(pool, context_of(runners.exits_on_zero))
        assert evidence_of(executor.submit(task_of(1), 30.0)).status is Status.SUCCESS
        failure = failure_of(executor.submit(task_of(0), 30.0))
        assert (failure.code, failure.is_retryable) == ("worker_died", True)
        assert failure_of(executor.submit(task_of(1), 30.0)).code == "worker_died"
        executor.close(now=True)


class Leaking(ThreadPoolExecutor):
    """Refuses every trial, or loses it, and says its key."""

    def __init__(self, error: Exception, *, loses: bool) -> None:
        super().__init__(1)
        self.error, self.loses = error, loses

    def submit(self, *_call: Any, **_more: Any) -> Future[Any]:
        if not self.loses:
            raise self.error
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return future


@pytest.mark.parametrize("loses", [True, False])
def test_what_a_foreign_executor_says_is_scrubbed(monkeypatch: pytest.MonkeyPatch, loses: bool) -> None:
    monkeypatch.setenv("TEST_SCHEDULER", "hunter2-hunter2")
    with Leaking(OSError("no scheduler at hunter2-hunter2"), loses=loses) as pool:
        executor = open_executor(pool, context_of(runners.good, secrets=["TEST_SCHEDULER"]))
        failure = failure_of(executor.submit(task_of(), 30.0))
        executor.close(now=True)
    assert failure.message == "the executor lost the trial: OSError: no scheduler at ***"


def test_a_process_pool_refuses_a_runner_that_cannot_be_sent() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        executor = open_executor(pool, context_of(runners.Unpicklable()))
        with pytest.raises(DeclarationError, match="cannot be sent to another process"):
            evidence_of(executor.submit(task_of(), 30.0))


def test_closing_an_adapted_executor_now_forgets_its_trials() -> None:
    with ThreadPoolExecutor(1) as pool:
        executor = open_executor(pool, context_of(runners.slow))
        futures = [executor.submit(task_of(case), None) for case in range(3)]
        executor.close(now=True)
        for future in futures:
            with pytest.raises(CancelledError):
                future.result(0)


def test_kinds_are_chosen_by_name_and_by_runner() -> None:
    kinds: dict[tuple[str, Runner], type] = {
        ("auto", runners.good): ThreadExecutor,
        ("auto", runners.good_async): CoroutineExecutor,
        ("inline", runners.good): InlineExecutor,
        ("threads", runners.good): ThreadExecutor,
        ("processes", runners.good): ProcessExecutor,
        ("coroutines", runners.good_async): CoroutineExecutor,
    }
    for (kind, runner), expected in kinds.items():
        executor = open_executor(kind, context_of(runner))
        assert type(executor) is expected
        assert executor.slots >= 1
        executor.close(now=False)
    with ThreadPoolExecutor(1) as pool:
        assert type(open_executor(pool, context_of(runners.good))) is FutureExecutor


@pytest.mark.parametrize(
    ("kind", "workers", "error", "said"),
    [
        ("thread", None, UnknownNameError, "unknown executor 'thread'; did you mean 'threads'?"),
        ("threads", 0, DeclarationError, "workers 0 is not a whole number above 0"),
        ("inline", 2, DeclarationError, "one trial at a time"),
        ("coroutines", None, DeclarationError, "runner tests.campaign.runners:good is no coroutine function"),
    ],
)
def test_a_kind_that_does_not_suit_is_refused(
    kind: str, workers: int | None, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        open_executor(kind, context_of(runners.good), workers)


UNCLOSED = """
    import sys
    from opfield.campaign.executors import open_executor
    from tests.campaign import runners

    if __name__ == "__main__":
        executor = open_executor(sys.argv[1], runners.context_of(getattr(runners, sys.argv[2])), 1)
        first = executor.submit(runners.task_of(1), 30.0).result()
        executor.submit(runners.task_of(0), None)
        print(first.status)
"""


@pytest.mark.parametrize(
    ("kind", "runner"),
    [("threads", "stuck_on_zero"), ("processes", "stuck_on_zero"), ("coroutines", "stuck_on_zero_async")],
)
def test_a_stuck_trial_never_keeps_the_interpreter_from_ending(tmp_path: Path, kind: str, runner: str) -> None:
    script = tmp_path / "unclosed.py"
    script.write_text(textwrap.dedent(UNCLOSED))
    out, err = start(script, kind, runner).communicate(timeout=30)
    assert (out, err) == ("success\n", "")
