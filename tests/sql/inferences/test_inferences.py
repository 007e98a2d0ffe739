"""One-sided p-values and limits of each method, against SciPy, enumeration and root finding."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.sql.inferences.asking import question_of, units_of
from tests.sql.inferences.drawing import Inferring
from tests.sql.inferences.oracle import Question, Unit, infer, method_of

Told = dict[str, dict[str, list[dict[str, Any]]]]


def test_generated_inferences_equal_the_oracle(told: Told, campaigns: list[Inferring]) -> None:
    seen: dict[tuple[str, bool], int] = {}
    for campaign in campaigns:
        for row in told["inferences"][campaign.name]:
            gate = campaign.gates[row["gate_ix"]]
            units = units_of(campaign, gate, row["candidate_id"], row["scope"])
            asked = question_of(campaign, gate, units, row["line"])
            if asked is None or not units:
                assert row["problem"], row
                expected: dict[str, float | None] = dict.fromkeys(("low", "high", "p_above", "p_below"))
            else:
                found = infer(units, asked)
                expected = {name: getattr(found, name) for name in ("low", "high", "p_above", "p_below")}
                assert row["method"] == asked.method
                assert row["missing"] == sum(unit.missing for unit in units)
                key = (asked.method, row["missing"] > 0)
                seen[key] = seen.get(key, 0) + (found.p_above is not None)
            for name, value in expected.items():
                assert is_near(row[name], value, name, asked), (name, value, row, asked, units)
    for method in ("t", "score", "bounded"):
        assert seen[method, False] > 20, seen
        assert seen[method, True] > 5, seen
    assert seen["constant", False] > 5
    assert seen["repeats", False] > 20
    assert seen["repeats", True] == 0


def is_near(told: float | None, true: float | None, name: str, asked: Question | None) -> bool:
    """Whether a number is the oracle's; a limit by betting may be wider by 20 halvings of the range, never narrower."""
    if told is None or true is None or asked is None:
        return told is true
    if asked.method == "bounded" and name in ("low", "high"):
        too_wide = true - told if name == "low" else told - true
        return -1e-9 <= too_wide <= (asked.upper - asked.lower) * 2.0**-20 + 1e-9
    # Tango's loss rate is found to about 1e-8 by maximizing a likelihood, hence its tail to 1e-6
    return told == pytest.approx(true, rel=1e-6, abs=1e-8)


def test_no_fill_of_what_is_missing_is_stronger_than_what_is_told() -> None:
    """The spread beside a gap is a bound: whatever the missing values are, no p-value is below the one told."""
    chance = Random("fills")
    for _ in range(300):
        size = chance.randint(2, 8)
        units = []
        one_value = chance.choice([None, None, chance.uniform(-1, 1)])
        for ix in range(size):
            low = high = one_value or chance.uniform(-1, 1)
            if chance.random() < 0.4:
                low, high = low - chance.uniform(0, 1), low + chance.uniform(0, 1)
            units.append(Unit(f"k{ix // chance.choice([1, 2])}", int(low < high), low, low, high))
        if len({unit.cluster for unit in units}) < 2 or all(unit.low == unit.high for unit in units):
            continue
        asked = Question(chance.uniform(-1, 1), 0.025, "t", -2.0, 2.0)
        told = infer(units, asked)
        for _ in range(30):
            values = [chance.choice([unit.low, unit.high, chance.uniform(unit.low, unit.high)]) for unit in units]
            if one_value and chance.random() < 0.3:
                values = [one_value] * size
            filled = [Unit(unit.cluster, 0, x, x, x) for unit, x in zip(units, values, strict=True)]
            truth = infer(filled, replace(asked, method=method_of(filled, "cases_like_these", "by_kind", False)))
            for bound, true in ((told.p_above, truth.p_above), (told.p_below, truth.p_below)):
                assert bound is not None
                assert true is not None
                assert min(bound, 0.5) >= min(true, 0.5) - 1e-12 or bound >= true - 1e-12


def test_nothing_told_is_out_of_its_range(told: Told) -> None:
    for rows in told["inferences"].values():
        for row in rows:
            for name in ("estimate", "low", "high", "p_above", "p_below"):
                assert row[name] is None or math.isfinite(row[name]), row
            for name in ("p_above", "p_below"):
                assert row[name] is None or 0 <= row[name] <= 1, row
            if row["low"] is not None and row["high"] is not None:
                assert row["low"] <= row["high"], row
