"""A campaign whose names and failures are as odd as they may be; importable by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

import opfield as of

FORMULA = '=cmd|"/C calc"!A0'
METRICS = ("Score", "score", "status", FORMULA, 'a "quoted", name', "召回率 🎯")


def answer(trial: of.TrialRequest) -> of.TrialResult:
    """Fail on one case, keep a metric back on another, and bring numbers with many digits."""
    if trial.coordinate.case_id == "b" and trial.spec["gain"] == 2:
        raise of.DomainFailure("no_answer", f"{FORMULA}\n<script>alert(1)</script>, 'said'")
    values = {name: trial.spec["gain"] / (3 + ix) for ix, name in enumerate(METRICS)}
    if trial.coordinate.case_id == "c":
        values["score"] = None
    return of.TrialResult(values, cost_usd=0.1 + 0.2, input_tokens=7, output={"text": "é" * 10})


def odd(**changes: object) -> of.Campaign:
    """A campaign of one candidate, three cases and two repeats: 12 cells, two of them failed."""
    declared: dict[str, object] = {
        "baseline": {"gain": 1},
        "candidates": {FORMULA: {"gain": 2}},
        "cases": [of.Case("a", {"n": 1}, groups={"role": "=admin"}), of.Case("b", {"n": 2}), of.Case("c", {"n": 3})],
        "run": answer,
        "metrics": [of.Metric(name) for name in METRICS],
        "policy": of.Policy([of.coverage(), of.failures()], prefer="Score"),
        "repeats": 2,
        "limits": of.Limits(timeout_s=20, attempts=2, backoff_s=0.01, pause_after=3),
    }
    return of.declare("odd", **{**declared, **changes})  # type: ignore[arg-type]  # the members are odd on purpose


campaign = odd()


@pytest.fixture(scope="session")
def odd_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that holds the odd campaign; nobody writes into it."""
    root = tmp_path_factory.mktemp("odd") / "warehouse"
    assert of.run(odd(), root, executor="inline").state == "completed"
    return root
