"""Campaigns that a sequential gate may stop early; importable by spawned workers and by the command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import opfield as of
from tests.sql.sequential.looking import registered

SEED = of.Seed(7)
METRICS = [of.Metric("score", lower=-1, upper=1)]
LOOKS = (4, 8)
#: Deltas of the registered cases that settle at the first look: t is 9.7, and 1.1e-3 is the p-value.
SURE = (0.4, 0.5, 0.3, 0.4) * 3
#: Deltas that leave the first look open, and settle at the second.
LATE = (0.4, -0.4, 0.5, -0.5, *(0.9,) * 8)
#: Deltas that never settle.
NEVER = (0.4, -0.4, 0.5, -0.5) * 3


def order(cases: int = 12) -> list[str]:
    """Return the cases in the registered order."""
    return registered([f"case {ix:02}" for ix in range(cases)], seed=SEED.hex)


def answer(trial: of.TrialRequest) -> Mapping[str, float]:
    """Score is the specification's gain times the case's effect. Leaves a note of the trial where a folder is named.

    A candidate that is `offline` cannot reach its provider on the case named, for as long as the folder holds `outage`.
    """
    folder = os.environ.get("OPFIELD_TEST_TRIALS")
    if folder:
        if trial.spec["offline_on"] == trial.coordinate.case_id and (Path(folder) / "outage").exists():
            raise ConnectionError("connection refused")
        coordinate = trial.coordinate
        note = f"{coordinate.candidate_id[-8:]} {coordinate.case_id} {coordinate.repeat}"
        (Path(folder) / note).touch(exist_ok=False)
    return {"score": trial.spec["gain"] * trial.case["effect"]}


async def answer_later(trial: of.TrialRequest) -> Mapping[str, float]:
    """A coroutine runner."""
    await asyncio.sleep(0)
    return answer(trial)


def looked(*gates: of.Gate, effects: Sequence[float] = SURE, **changes: Any) -> of.Campaign:
    """A campaign of a better and a worse candidate, 12 cases and 2 repeats, that looks at 4 and 8 cases.

    Args:
        *gates: gates after coverage; one sequential gate where none is given.
        effects: delta of each case of the registered order for the better candidate; the worse one has its opposite.
        **changes: members of the declaration that differ.
    """
    declared: dict[str, Any] = {
        "baseline": {"gain": 0, "offline_on": ""},
        "candidates": {"better": {"gain": 1}, "worse": {"gain": -1}},
        "cases": {case: {"effect": effect} for case, effect in sorted(zip(order(), effects, strict=True))},
        "run": answer,
        "metrics": METRICS,
        "policy": of.Policy((of.coverage(), *(gates or (sequential(),))), prefer="score"),
        "repeats": 2,
        "seed_root": SEED,
        "limits": of.Limits(timeout_s=60, attempts=1, backoff_s=0.01, pause_after=9),
    }
    return of.declare("looked", **{**declared, **changes})


def sequential(looks: Sequence[int] | None = LOOKS, by: float = 0.0, **changes: Any) -> of.Gate:
    """Return a sequential gate on the score that spends .2 evenly over its looks."""
    return of.sequential("score", by, **{"looks": looks, "spending": "even", "alpha": 0.2, "min_cases": 2, **changes})


campaign = looked()
