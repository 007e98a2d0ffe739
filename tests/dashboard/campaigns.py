"""Campaigns that the dashboard's tests run; importable by the command."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping
from pathlib import Path

import opfield as of
from tests.campaign.campaigns import answer, small

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31mred\x1b[0m'; drop table cells; --"
MEGABYTES = "<b>" + "x" * 2_000_000


def fails_loudly(trial: of.TrialRequest) -> of.TrialResult:
    """Fails on one case with a message of markup and two million characters; keeps markup as evidence elsewhere."""
    if trial.spec["gain"] == 2 and trial.coordinate.case_id == HOSTILE:
        raise of.DomainFailure("loud", HOSTILE + MEGABYTES)
    kept = trial.artifacts.put(f"<script>alert('evidence')</script>{'e' * 10_000}")
    return of.TrialResult(answer(trial), artifact_id=kept)


_answered = itertools.count()


def waits(trial: of.TrialRequest) -> Mapping[str, float]:
    """Answers thrice, then once the file named by OPFIELD_TEST_GO stands; gives up waiting after a minute."""
    deadline = time.monotonic() + 60
    if next(_answered) >= 3:
        while not Path(os.environ["OPFIELD_TEST_GO"]).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
    return answer(trial)


hostile = of.declare(
    "<script>alert('name')</script>",
    baseline={"gain": 1},
    candidates={"<u>more</u>": {"gain": 2}, "less": {"gain": 0}},
    cases={HOSTILE: {"weight": 1}, "b": {"weight": 2}, "c": {"weight": 3}},
    run=fails_loudly,
    metrics=small().metrics,
    policy=small().policy,
)
waiting = small(run=waits, repeats=1)
