"""Campaigns of the custody tests; importable by the processes that they kill."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import opfield as of
from opfield.campaign.engine import run
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event

#: The crash loops in full take many minutes; the reduced form covers the same ground more thinly.
IS_WHOLE = os.environ.get("OPFIELD_TEST_WHOLE") == "1"

METRICS = (
    of.Metric("score", lower=-(2**30), upper=2**30, on_domain_failure="worst"),
    of.Metric("words", direction="minimize", kind="count"),
)
CASES = 12


def answer(trial: of.TrialRequest) -> of.TrialResult:
    """Case i weighs 2^i, so that a sum tells which cases are in it. The candidate `fails` fails the heaviest but one.

    The candidate `early` leads by far on all but the heaviest case, where it loses more than it gained.
    """
    weight, gain = 2 ** trial.case["ix"], trial.spec["gain"]
    if trial.spec["fails"] and trial.case["ix"] == CASES - 2:
        raise of.DomainFailure("no_answer", "it said nothing")
    if trial.spec["early"] and trial.case["ix"] == CASES - 1:
        gain = -3
    time.sleep(trial.spec["pause_s"])
    words = {"words": None} if trial.case["ix"] == CASES - 2 else {"words": float(trial.case["ix"])}
    text = "x" * (70_000 if trial.case["ix"] == CASES - 1 else 10)
    return of.TrialResult({"score": float(weight * gain), **words}, output={"text": text})


def weighted(repeats: int = 1, pause_s: float = 0.0, cases: int = CASES, **changes: Any) -> of.Campaign:
    """A campaign of three candidates; its selection is `late`, unless some evidence is left out."""
    declared: dict[str, Any] = {
        "baseline": {"gain": 1, "early": False, "fails": False, "pause_s": pause_s},
        "candidates": {"early": {"gain": 9, "early": True}, "late": {"gain": 2}, "fails": {"gain": 1, "fails": True}},
        "cases": {f"case {ix}/'{ix}'": {"ix": ix} for ix in range(CASES - cases, CASES)},
        "run": answer,
        "metrics": METRICS,
        "policy": of.Policy((of.coverage(), of.failures()), prefer="score"),
        "repeats": repeats,
        "limits": of.Limits(timeout_s=60, attempts=2, backoff_s=0.01, pause_after=3),
    }
    return of.declare("weighted", **{**declared, **changes})


def lasting(trial: of.TrialRequest) -> of.TrialResult:
    """Tell which process runs it, then take a minute."""
    folder = Path(os.environ["OPFIELD_TEST_WORKERS"])
    (folder / str(os.getpid())).touch()
    time.sleep(60)
    return answer(trial)


def events_of(campaign: of.Campaign) -> int:
    """Return how many events the history of a fixed campaign has (§E.2)."""
    candidates, cases = 3, len(campaign.workload.cases)
    return 1 + candidates + cases * campaign.repeats * (1 + candidates) + candidates + candidates + 1


def finished(root: Path, campaign: of.Campaign) -> str:
    """Run a campaign to its end and return its id."""
    outcome = run(campaign, root, executor="inline")
    assert outcome.state == "completed"
    return outcome.campaign_id


def history(root: Path, campaign_id: str) -> list[Event]:
    """Return the published events of a campaign."""
    return list(ledger.read_events(root, campaign_id))
