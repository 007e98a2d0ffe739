"""A family of candidates: Holm's adjustment over all that were declared, with the arithmetic shown."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from tests.sql.build import Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.inferences.drawing import Inferring

CASES = {f"w{ix:02}": {"half": "ab"[ix % 2]} for ix in range(20)}
# Of 20 cases the deltas are half ±1 about a mean, so that the standard error is sqrt(20 / 19 / 20) = sqrt(1 / 19).
ERROR = math.sqrt(1 / 19)


def mean_of(p_value: float, df: int = 19, error: float = ERROR) -> float:
    """Return the mean delta whose one-sided p-value against 0 is this."""
    return float(stats.t.isf(p_value, df)) * error


def arms(means: dict[str, tuple[float, float]]) -> list[Trial]:
    """Return trials of candidates whose deltas are ±1 about a mean in each half of the cases."""
    trials = [Trial("base", case, 0, {"m": 0.0}) for case in CASES]
    for who, halves in means.items():
        for ix, case in enumerate(CASES):
            trials.append(Trial(who, case, 0, {"m": halves[ix % 2] + (1 if ix % 4 < 2 else -1)}))
    return trials


def judged(write: Write, read: Read, p_values: dict[str, float], **options: Any) -> dict[str, dict[str, Any]]:
    means = {who: (mean_of(p), mean_of(p)) for who, p in p_values.items()}
    gate = {"kind": "family", "metric": "m", "threshold": 0.0, "options": options}
    write(Inferring(cases=CASES, metrics=[Metric("m")], trials=arms(means), candidates=sorted(p_values), gates=[gate]))
    return {row["candidate_id"]: row for row in read("from gate_results")}


def test_each_p_value_is_multiplied_by_how_many_are_left(write: Write, read: Read) -> None:
    told = judged(write, read, {"c1": 0.008, "c2": 0.012, "c3": 0.03, "c4": 0.9})
    # 4 x .008 = .032; 3 x .012 = .036; 2 x .03 = .06; .9: at .05 the first two pass
    for who, adjusted in {"c1": 0.032, "c2": 0.036, "c3": 0.06, "c4": 0.9}.items():
        assert f"p-value {adjusted:.6g} among 4 candidates" in told[who]["message"]
    told = judged(write, read, {"c1": 0.008, "c2": 0.012, "c3": 0.03, "c4": 0.9}, alpha=0.05)
    assert [told[who]["status"] for who in sorted(told)][:3] == ["pass", "pass", "indeterminate"]


def test_an_adjusted_p_value_is_not_below_those_before_it(write: Write, read: Read) -> None:
    told = judged(write, read, {"c1": 0.012, "c2": 0.013}, alpha=0.02)
    # 2 x .012 = .024; 1 x .013 alone would be below .02, but its predecessor is not
    assert {who: row["status"] for who, row in told.items()} == dict.fromkeys(("c1", "c2"), "indeterminate")


def test_the_worst_of_its_groups_stands_for_a_candidate(write: Write, read: Read) -> None:
    # of ten cases each the standard error is sqrt(10 / 9 / 10) = 1 / 3
    strong, weak = mean_of(0.001, 9, 1 / 3), mean_of(0.2, 9, 1 / 3)
    gate = {
        "kind": "family", "metric": "m", "threshold": 0.0,
        "options": {"within": "half", "min_cases": 2, "alpha": 0.05},
    }  # fmt: skip
    means = {"c1": (strong, strong), "c2": (strong, weak)}
    write(Inferring(cases=CASES, metrics=[Metric("m")], trials=arms(means), candidates=["c1", "c2"], gates=[gate]))
    told = {row["candidate_id"]: row["status"] for row in read("from gate_results")}
    assert told == {"c1": "pass", "c2": "indeterminate"}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_candidate_without_a_p_value_counts_as_one(write: Write, read: Read, is_there: bool) -> None:
    trials = arms({"c1": (mean_of(0.02), mean_of(0.02)), "c2": (mean_of(0.9), mean_of(0.9))})
    if not is_there:
        trials = [each for each in trials if each.candidate_id != "c2"]
    gate = {"kind": "family", "metric": "m", "threshold": 0.0, "options": {"alpha": 0.03}}
    write(Inferring(cases=CASES, metrics=[Metric("m")], trials=trials, candidates=["c1", "c2"], gates=[gate]))
    told = {row["candidate_id"]: row for row in read("from gate_results")}
    # 2 x .02 is above .03, whether the other was tried or not
    assert told["c1"]["status"] == "indeterminate"
    assert "p-value 0.04 among 2 candidates" in told["c1"]["message"]
