"""Spawned workers: killed when late, replaced when dead, gone with their coordinator."""

from __future__ import annotations

import fcntl
import os
import signal
import textwrap
import threading
import time
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import pytest

from opfield.campaign.executors import (
    open_executor,
)
from opfield.core import Failure, Status
from opfield.errors import DeclarationError
from opfield.experiment import Case, Runner
from tests.campaign import runners
from tests.campaign.executing import evidence_of, failure_of, is_alive, opened, pid_of, pids_in, start, until
from tests.campaign.runners import context_of, task_of


def test_a_timeout_kills_what_the_runner_started(tmp_path: Path) -> None:
    with opened("processes", runners.Busy(tmp_path, "child"), workers=1) as executor:
        assert failure_of(executor.submit(task_of(0), 1.0)).code == "timeout"
        pids = pids_in(tmp_path / "0")
        assert len(pids) == 2
        until(lambda: not any(map(is_alive, pids)), within_s=2)


@pytest.mark.parametrize(
    ("runner", "said"),
    [(runners.exits_on_zero, "ended with exit status 17"), (runners.crashes_on_zero, "was ended by SIGSEGV")],
)
def test_a_worker_that_dies_is_a_retryable_failure_and_is_replaced(runner: Runner, said: str) -> None:
    with opened("processes", runner, workers=1) as executor:
        failure = failure_of(executor.submit(task_of(0), 30.0))
        assert failure == Failure("worker_died", f"the worker process {said} during the trial", is_retryable=True)
        assert evidence_of(executor.submit(task_of(1), 30.0)).status is Status.SUCCESS


def test_a_worker_that_died_while_idle_costs_no_trial() -> None:
    with opened("processes", runners.where, workers=1) as executor:
        pid = pid_of(evidence_of(executor.submit(task_of(0), 30.0)))
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid))
        time.sleep(0.2)  # its first thread ends before its last, and its pipe closes with that
        assert evidence_of(executor.submit(task_of(0), 30.0)).status is Status.SUCCESS


def test_what_a_dying_worker_started_is_killed(tmp_path: Path) -> None:
    with opened("processes", runners.Busy(tmp_path, "die"), workers=1) as executor:
        assert failure_of(executor.submit(task_of(0), 30.0)).code == "worker_died"
        until(lambda: not any(map(is_alive, pids_in(tmp_path / "0"))), within_s=2)


@pytest.mark.parametrize("end", ["submit", "close"])
def test_what_a_worker_that_died_while_idle_started_is_killed(tmp_path: Path, end: str) -> None:
    with opened("processes", runners.Busy(tmp_path, "leave"), workers=2, now=True) as executor:
        assert evidence_of(executor.submit(task_of(0), 30.0)).status is Status.SUCCESS
        worker, child = pids_in(tmp_path / "0")
        assert is_alive(child)
        os.kill(worker, signal.SIGKILL)
        until(lambda: not is_alive(worker))
        if end != "close":
            for case in (1, 2):  # one for each slot
                evidence_of(executor.submit(task_of(case), 30.0))
            until(lambda: not is_alive(child), within_s=2)
    until(lambda: not is_alive(child), within_s=2)


def test_a_worker_that_was_reaped_is_sent_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    def nobody(pid: int, number: int) -> None:
        raise ProcessLookupError

    with opened("processes", runners.where, workers=1, now=True) as executor:
        pid = pid_of(evidence_of(executor.submit(task_of(0), 30.0)))
        os.kill(pid, signal.SIGKILL)
        until(lambda: pid not in {child.pid for child in active_children()})  # which reaps it
        monkeypatch.setattr(os, "killpg", nobody)
        monkeypatch.setattr(os, "kill", lambda pid, _number: sent.append(pid))
        executor.close(now=True)
        assert sent == []


def test_workers_keep_their_process_and_ignore_ctrl_c() -> None:
    with opened("processes", runners.where, workers=1) as executor:
        first = pid_of(evidence_of(executor.submit(task_of(0), 30.0)))
        assert first != os.getpid()
        os.kill(first, signal.SIGINT)
        assert pid_of(evidence_of(executor.submit(task_of(1), 30.0))) == first
    until(lambda: not is_alive(first), within_s=2)


@pytest.mark.parametrize(
    ("runner", "said"),
    [
        (runners.Unpicklable(), r"runner .*Unpicklable cannot be sent .* Define it at module level"),
        (lambda _: {}, r"runner .*<lambda> cannot be sent to another process"),
    ],
)
def test_a_runner_that_cannot_be_sent_is_refused_at_once(runner: Runner, said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        open_executor("processes", context_of(runner))


def test_a_case_that_cannot_be_sent_is_not_blamed_on_the_runner() -> None:
    context = replace(context_of(runners.good), cases={"0": Case("0", threading.Lock())})
    with pytest.raises(DeclarationError, match="the cases or specifications"):
        open_executor("processes", context)


def test_a_runner_that_cannot_be_loaded_in_a_worker_is_a_declaration_error() -> None:
    said = r"Unloadable: .*ImportError: no such model here.*module level"
    with opened("processes", runners.Unloadable(), workers=1) as executor, pytest.raises(DeclarationError, match=said):
        evidence_of(executor.submit(task_of(), 30.0))


def test_what_a_worker_says_of_a_runner_that_it_cannot_load_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "hunter2-hunter2")
    executor = open_executor("processes", context_of(runners.Unloadable(), secrets=["TEST_MODEL_KEY"]), 1)
    with pytest.raises(DeclarationError, match=r"no such model here, tried with \*\*\*"):
        evidence_of(executor.submit(task_of(), 30.0))
    executor.close(now=True)


COORDINATOR = """
    import fcntl, sys, time
    from pathlib import Path
    from opfield.campaign.executors import open_executor
    from tests.campaign.runners import Busy, context_of, task_of

    if __name__ == "__main__":
        lock = open(sys.argv[1], "w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        executor = open_executor("processes", context_of(Busy(Path(sys.argv[2]), sys.argv[3])), 2)
        futures = [executor.submit(task_of(case), None) for case in range(2)]
        [future.result() for future in futures]
"""


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("sleep", signal.SIGKILL),
        ("hold", signal.SIGKILL),
        ("child", signal.SIGKILL),
        ("sleep", signal.SIGTERM),
    ],
)
def test_workers_die_with_their_coordinator_and_never_hold_its_lock(tmp_path: Path, mode: str, number: int) -> None:
    script, lock, marks = tmp_path / "coordinator.py", tmp_path / "lock", tmp_path / "marks"
    script.write_text(textwrap.dedent(COORDINATOR))
    marks.mkdir()
    coordinator = start(script, str(lock), str(marks), mode)
    until(lambda: len(list(marks.iterdir())) == 2)
    time.sleep(0.1)
    pids = [int(pid) for mark in marks.iterdir() for pid in mark.read_text().split()]
    assert all(map(is_alive, pids))
    try:
        with lock.open() as held:
            with pytest.raises(BlockingIOError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            coordinator.send_signal(number)
            coordinator.wait()
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        until(lambda: not any(map(is_alive, pids)), within_s=2)
    finally:
        for pid in filter(is_alive, pids):
            os.kill(pid, signal.SIGKILL)
        coordinator.communicate()


UNGUARDED = """
    from opfield.campaign.executors import open_executor
    from opfield.errors import DeclarationError
    from tests.campaign import runners

    executor = open_executor("processes", runners.context_of(runners.good), 1)
    try:
        executor.submit(runners.task_of(), 30.0).result()
    except DeclarationError as error:
        print(error)
    executor.close(now=True)
"""


def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(textwrap.dedent(UNGUARDED))
    out, _ = start(script).communicate(timeout=30)
    assert "no worker process can be started" in out
    assert "if __name__" in out
