"""Runners of every bad kind, at module level so that worker processes can import them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from opfield.campaign.evidence import TrialContext, TrialTask
from opfield.core import seal
from opfield.experiment import Case, Coordinate, DomainFailure, Runner, TrialRequest, TrialResult
from opfield.metric import Metric
from opfield.prob import Seed

METRICS = (
    Metric("recall", lower=0, upper=1),
    Metric("hit", kind="binary"),
    Metric("words", kind="count"),
    Metric("latency", direction="minimize", unit="s"),
)
SPEC = {"k": 4, "query": {"fusion": [1, 2.5], "channels": ["a", "b"]}}
GOOD = {"recall": 0.5, "hit": True, "words": 3, "latency": 0.25}


def context_of(runner: Runner, **more: Any) -> TrialContext:
    """Return a context of one candidate and six cases."""
    return TrialContext(
        campaign_id="sha256:" + "0" * 64,
        runner=runner,
        metrics=METRICS,
        specs={"candidate": seal("test.spec/v1", SPEC)},
        cases={
            str(number): Case(str(number), {"tags": ["x"], "number": number}, {"role": "admin"}) for number in range(6)
        },
        **more,
    )


def task_of(case: int = 0, attempt: int = 1) -> TrialTask:
    """Return the task of one case."""
    return TrialTask(Coordinate("candidate", "candidate", str(case), 0), Seed(7), attempt)


def good(trial: TrialRequest) -> dict[str, Any]:
    return dict(GOOD)


def slow(trial: TrialRequest) -> dict[str, Any]:
    time.sleep(0.2)
    return dict(GOOD)


def where(trial: TrialRequest) -> TrialResult:
    output = {"pid": os.getpid(), "thread": threading.get_ident(), "path": sys.path[-1]}
    return TrialResult(GOOD, output=output)


def raising(trial: TrialRequest) -> NoReturn:
    raise ValueError(f"bad input in case {trial.coordinate.case_id}")


def failing(trial: TrialRequest) -> NoReturn:
    raise DomainFailure("no_answer", "the system gave none")


def leaving(trial: TrialRequest) -> NoReturn:
    raise SystemExit(3)


def interrupting(trial: TrialRequest) -> NoReturn:
    raise KeyboardInterrupt


def disconnected(trial: TrialRequest) -> NoReturn:
    raise ConnectionResetError("peer went away")


def not_finite(trial: TrialRequest) -> dict[str, Any]:
    return {**GOOD, "recall": float("nan")}


def misspelt(trial: TrialRequest) -> dict[str, Any]:
    return {**GOOD, "recal": 0.9}


def misplaced(trial: TrialRequest) -> TrialResult:
    return TrialResult(GOOD, coordinate=Coordinate("candidate", "candidate", "99", 0))


def unserialisable(trial: TrialRequest) -> TrialResult:
    return TrialResult(GOOD, output={"lock": threading.Lock()})


def stuck_on_zero(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        time.sleep(600)
    return dict(GOOD)


def stuck_on_short_zero(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        time.sleep(2)
    return dict(GOOD)


def exits_on_zero(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        os._exit(17)
    return dict(GOOD)


def crashes_on_zero(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        os.kill(os.getpid(), signal.SIGSEGV)
    return dict(GOOD)


async def good_async(trial: TrialRequest) -> dict[str, Any]:
    await asyncio.sleep(0)
    return dict(GOOD)


async def stuck_on_zero_async(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        await asyncio.sleep(600)
    return dict(GOOD)


async def disobedient_async(trial: TrialRequest) -> dict[str, Any]:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)


async def blocks_loop_on_zero_async(trial: TrialRequest) -> dict[str, Any]:
    if trial.coordinate.case_id == "0":
        time.sleep(4)
    return dict(GOOD)


async def cancels_itself_async(trial: TrialRequest) -> dict[str, Any]:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(600)
    return dict(GOOD)


async def exits_beside_itself_async(trial: TrialRequest) -> dict[str, Any]:
    async def leave() -> NoReturn:
        raise SystemExit(3)

    await asyncio.gather(asyncio.create_task(leave()), return_exceptions=True)
    return dict(GOOD)


class Busy:
    """Writes its process id to a folder, then never returns.

    With a child, or holding the interpreter; `leave` answers and leaves its child behind, `die` does not answer.
    """

    def __init__(self, folder: Path, mode: str = "sleep") -> None:
        self.folder = folder
        self.mode = mode

    def __call__(self, trial: TrialRequest) -> dict[str, Any]:
        pids = [os.getpid()]
        if self.mode in ("child", "leave", "die"):
            pids.append(subprocess.Popen(["sleep", "600"]).pid)
        (self.folder / trial.coordinate.case_id).write_text(" ".join(map(str, pids)))
        if self.mode == "leave":
            return dict(GOOD)
        if self.mode == "die":
            os._exit(17)
        if self.mode == "hold":
            re.match(r"(a|a)+$", "a" * 60 + "b")  # for ages, with the interpreter's lock held
        time.sleep(600)
        return {}


class Unpicklable:
    """Holds what cannot be sent to another process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, _trial: TrialRequest) -> dict[str, Any]:
        return dict(GOOD)


class Unloadable:
    """Can be sent, but not loaded again."""

    def __call__(self, _trial: TrialRequest) -> dict[str, Any]:
        return dict(GOOD)

    def __setstate__(self, state: Any) -> NoReturn:
        raise ImportError(f"no such model here, tried with {os.environ.get('TEST_MODEL_KEY')}")

    def __getstate__(self) -> dict[str, Any]:
        return {"some": "state"}
