"""Ragged campaigns whose repeats pair: what is declared at each case is what may be missing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

Values = Mapping[str, Mapping[str, Sequence[float | None]]]

RANGE = Metric("m", 1, 0.0, 1.0)


def ragged(values: Values, **more: Any) -> Campaign:
    """Return a campaign in which each case runs as often as values, None for a missing one, are given on each arm."""
    cases = list(values["base"])
    return Campaign(
        cases={case: {"half": "first" if case < "b" else "second"} for case in cases},
        metrics=[RANGE],
        repeats=max(len(each) for each in values["base"].values()),
        ragged={case: {who: len(values["base"][case]) for who in values} for case in cases},
        trials=[
            Trial(who, case, repeat, {"m": value})
            for who, told in values.items()
            for case, each in told.items()
            for repeat, value in enumerate(each)
            if value is not None
        ],
        **({"preference": "m"} | more),
    )


WHOLE: Values = {"base": {"a": [0.5], "b": [0.25, 0.75, 0.5]}, "c1": {"a": [0.75], "b": [0.5, 0.5, 0.5]}}
GAP: Values = {"base": WHOLE["base"], "c1": {"a": [0.75], "b": [0.5, None, 0.5]}}


def test_a_case_that_runs_less_often_lacks_nothing(write: Write, read: Read) -> None:
    # a: +0.25; b: +0.25, -0.25, 0, that is 0 on average
    write(ragged(WHOLE, gates=[{"kind": "coverage"}]))
    (told,) = read("from comparisons")
    assert (told["pairs"], told["missing"], told["cases"], told["mean_delta"]) == (4, 0, 2, 0.125)
    (told,) = read("from coverage")
    assert (told["expected_pairs"], told["complete_pairs"], told["not_planned"], told["is_complete"]) == (4, 4, 0, True)
    assert [(row["decision"], row["is_final"]) for row in read("from decisions")] == [("pass", True)]


def test_a_missing_pair_is_missing_of_those_that_its_case_declares(write: Write, read: Read) -> None:
    write(ragged(GAP))
    (told,) = read("from comparisons")
    assert (told["pairs"], told["missing"]) == (3, 1)
    assert {row["group_value"]: row["missing"] for row in read("from strata")} == {"first": 0, "second": 1}
    assert {row["case_id"]: row["missing"] for row in read("from case_bounds")} == {"a": 0, "b": 1}
    assert [row["decision"] for row in read("from decisions")] == ["indeterminate"]
    # the middle pair of b has 0.75 against 0 to 1: -0.75 to +0.25
    (told,) = read("select mean_delta_low, mean_delta_high from bounds")
    assert told["mean_delta_low"] == pytest.approx((0.25 + (0.25 - 0.75 + 0) / 3) / 2, abs=1e-15)
    assert told["mean_delta_high"] == pytest.approx((0.25 + (0.25 + 0.25 + 0) / 3) / 2, abs=1e-15)


def test_tries_that_a_case_never_declared_are_missing_from_a_reliability(write: Write, read: Read) -> None:
    # a: one try of the two in a row that are asked about, and it succeeded; b: 2 of 3 succeeded
    values = {who: {"a": [1.0], "b": [1.0, 1.0, 0.0]} for who in ("base", "c1")}
    campaign = ragged(values, gates=[{"kind": "reliability", "metric": "m", "threshold": 0.5, "options": {"k": 2}}])
    write(Campaign(**{**vars(campaign), "metrics": [Metric("m", 1, 0.0, 1.0, kind="binary")]}))
    told = {row["case_id"]: (row["missing"], row["value"], row["low"], row["high"]) for row in read("from unit_values")}
    assert told == {
        "a": (1, None, 0.0, 1.0),
        "b": (0, pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3)),
    }
