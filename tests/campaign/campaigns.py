"""Small campaigns that tests run; importable by spawned workers and by the command."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import opfield as of

POLICY = of.Policy([of.coverage(), of.failures(), of.mean_delta("score", at_least=0)], prefer="score")
METRICS = [of.Metric("score", lower=-100, upper=100), of.Metric("words", direction="minimize", kind="count")]


def answer(trial: of.TrialRequest) -> Mapping[str, float]:
    """Score is the specification's gain times the case's weight; deterministic."""
    return {"score": trial.spec["gain"] * trial.case["weight"], "words": len(trial.coordinate.case_id)}


def small(**changes: Any) -> of.Campaign:
    """A campaign of 2 candidates, 3 cases and 2 repeats: 18 cells, 26 events."""
    declared: dict[str, Any] = {
        "baseline": {"gain": 1},
        "candidates": {"more": {"gain": 2}, "less": {"gain": 0}},
        "cases": {"a": {"weight": 1}, "b": {"weight": 2}, "c": {"weight": 3}},
        "run": answer,
        "metrics": METRICS,
        "policy": POLICY,
        "repeats": 2,
        "limits": of.Limits(timeout_s=20, attempts=2, backoff_s=0.01, pause_after=3),
    }
    return of.declare("small", **{**declared, **changes})


def fails_on_b(trial: of.TrialRequest) -> Mapping[str, float]:
    """The candidate `more` fails on case b; the others answer."""
    if trial.spec["gain"] == 2 and trial.coordinate.case_id == "b":
        raise of.DomainFailure("no_answer", "it said nothing")
    return answer(trial)


def offline(trial: of.TrialRequest) -> Mapping[str, float]:
    """Like a provider during an outage, for as long as the file named by OPFIELD_TEST_OUTAGE stands."""
    if Path(os.environ["OPFIELD_TEST_OUTAGE"]).exists():
        raise ConnectionError("connection refused")
    return answer(trial)


def slow(trial: of.TrialRequest) -> Mapping[str, float]:
    """Takes a fifth of a second."""
    time.sleep(0.2)
    return answer(trial)


def hangs_on_b(trial: of.TrialRequest) -> Mapping[str, float]:
    """Never returns on case b, as far as a test can wait."""
    if trial.coordinate.case_id == "b":
        time.sleep(60)
    return answer(trial)


def leaks(trial: of.TrialRequest) -> Mapping[str, float]:
    """The candidates fail with their key in the message."""
    if trial.spec["gain"] != 1:
        raise ValueError(f"401: key {os.environ['SMALL_API_KEY']} was refused")
    return answer(trial)


def forks(trial: of.TrialRequest) -> Mapping[str, float]:
    """Leaves a child behind that lives for a while, on one case."""
    if trial.coordinate.case_id == "a" and os.fork() == 0:
        time.sleep(5)
        os._exit(0)
    return answer(trial)


def broken(trial: of.TrialRequest) -> Mapping[str, float]:
    """Has a typing error on every path."""
    return {"score": trial.repeat}  # type: ignore[attr-defined]


async def answer_later(trial: of.TrialRequest) -> Mapping[str, float]:
    """A coroutine runner."""
    return answer(trial)


campaign = small()
outage = small(run=offline)
slow_campaign = small(run=slow)


def reviewed(**options: Any) -> of.Campaign:
    """Like `small`, decided by people after the value gate: `more` passes that, `less` fails it."""
    policy = of.Policy(
        [of.coverage(), of.mean_delta("score", at_least=0), of.gate("review", **options)], prefer="score"
    )
    return small(policy=policy)


reviewed_campaign = reviewed()
