"""Executors opened and closed for a test, and the processes they start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from opfield.campaign.evidence import TrialEvidence
from opfield.campaign.executors import (
    TrialExecutor,
    open_executor,
)
from opfield.core import Failure
from opfield.experiment import Runner
from tests.campaign.runners import context_of

WAIT_S = 60.0


@contextmanager
def opened(kind: str, runner: Runner, workers: int | None = 2, *, now: bool = False) -> Iterator[TrialExecutor]:
    executor = open_executor(kind, context_of(runner), None if kind == "inline" else workers)
    try:
        yield executor
    except BaseException:
        executor.close(now=True)
        raise
    executor.close(now=now)


def evidence_of(future: Future[TrialEvidence]) -> TrialEvidence:
    return future.result(WAIT_S)


def failure_of(future: Future[TrialEvidence]) -> Failure:
    failure = evidence_of(future).failure
    assert failure is not None
    return failure


def until(condition: Callable[[], bool], within_s: float = WAIT_S) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def pids_in(file: Path) -> list[int]:
    return [int(pid) for pid in file.read_text().split()]


def pid_of(evidence: TrialEvidence) -> int:
    content = (evidence.artifacts[0].content or b"").decode()
    return int(content.partition('"pid":')[2].partition(",")[0])


def start(script: Path, *arguments: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, str(script), *arguments]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=script.parent
    )
