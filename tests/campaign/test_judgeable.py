from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import opfield as of
from opfield.campaign.engine import run
from opfield.errors import DeclarationError

METRICS = [of.Metric("ok", kind="binary"), of.Metric("score"), of.Metric("share", lower=0, upper=1)]


def answer(_trial: of.TrialRequest) -> dict[str, float]:
    raise AssertionError("a trial ran")


def declared(*gates: of.Gate, **changes: Any) -> of.Campaign:
    return of.declare(
        "judgeable",
        baseline={"x": 0},
        candidates={"one": {"x": 1}},
        cases={f"case {ix}": {} for ix in range(3)},
        run=answer,
        metrics=METRICS,
        policy=of.Policy(gates, infers_to=changes.pop("infers_to", "cases_like_these")),
        repeats=changes.pop("repeats", 2),
    )


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        (of.binary_superiority("score"), "it takes a binary metric and one repeat"),
        (of.binary_noninferiority("ok", 0.1), "it takes a binary metric and one repeat"),
        (of.reliability("ok", 0.5, 3), "3 tries in a row cannot be told from 2 repeats"),
        (of.reliability("share", 0.5, 2), "the metric is not binary"),
        (of.superiority("score", method="bounded"), "both ends of its range declared"),
        (of.sequential("score", spending="e_process"), "an e-process needs a metric with both ends"),
        (of.gate("noninferiority", "score", -0.1), "a margin is above 0"),
        (of.gate("superiority", "score", alpha=2), "alpha is a number above 0 and below 0.5"),
        (of.gate("percentile", "score", at_most=1.0, q=2.0), "q is a number above 0 and below 1"),
    ],
)
def test_a_gate_that_could_never_judge_is_refused_before_a_trial(tmp_path: Path, gate: of.Gate, why: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(f"gate {gate.name}: ") + ".*" + re.escape(why)):
        run(declared(of.coverage(), gate), tmp_path, executor="inline")
    assert not list(tmp_path.glob("events/campaign=[!n]*"))


def test_every_such_gate_is_named() -> None:
    gates = (of.reliability("ok", 0.5, 3), of.superiority("score", method="bounded"))
    with pytest.raises(DeclarationError, match=r"reliability\(ok\): .*; gate superiority\(score\): "):
        run(declared(*gates))


def test_one_repeat_tells_no_noise_of_repeats() -> None:
    with pytest.raises(DeclarationError, match="one repeat cannot show whether the runner is deterministic"):
        run(declared(of.superiority("score"), infers_to="these_cases", repeats=1))
