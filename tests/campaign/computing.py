"""Campaigns whose gates rest on computed evidence; importable by spawned workers and by the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import opfield as of

CASES = 80
METRICS = [of.Metric("seconds", direction="minimize", lower=0, upper=1000)]


def answer(trial: of.TrialRequest) -> of.TrialResult | Mapping[str, float]:
    """Case i takes i+1 seconds, times the specification's factor; input tokens are ten times as many."""
    took = (trial.case["ix"] + 1) * trial.spec["factor"]
    if trial.case["ix"] == 7 and trial.spec["fails"]:
        raise of.DomainFailure("no_answer", "it said nothing")
    return of.TrialResult({"seconds": took}, input_tokens=int(10 * took))


def timed(*gates: of.Gate, cases: int = CASES, **changes: Any) -> of.Campaign:
    """A campaign of a faster, a slower and a failing candidate."""
    declared: dict[str, Any] = {
        "baseline": {"factor": 1.0, "fails": False},
        "candidates": {"fast": {"factor": 0.5}, "slow": {"factor": 2.0}, "fails": {"factor": 0.5, "fails": True}},
        "cases": {f"case {ix:03}": {"ix": ix} for ix in range(cases)},
        "run": answer,
        "metrics": METRICS,
        "policy": of.Policy(gates, prefer="seconds"),
    }
    return of.declare("timed", **{**declared, **changes})


campaign = timed(of.gate("percentile", "seconds", at_most=40.0))
