from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

NUMBERS = (
    "baseline_mean",
    "candidate_mean",
    "mean_delta",
    "min_delta",
    "max_delta",
    "standard_error",
    "ci_low",
    "ci_high",
)


def cells(who: Any, values: Any) -> Any:
    return [Trial(who, case, repeat, {"m": value}) for (case, repeat), value in values.items()]


def test_the_case_is_the_unit_of_analysis(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}},
            metrics=[Metric("m")],
            repeats=3,
            trials=[
                *cells("base", {("a", 0): 0.0, ("a", 1): 0.0, ("a", 2): 0.0, ("b", 0): 1.0}),
                *cells("c1", {("a", 0): 3.0, ("a", 1): 3.0, ("a", 2): 6.0, ("b", 0): 3.0, ("b", 1): 9.0}),
            ],
        )
    )
    (row,) = read("from comparisons")
    # case a: mean (3 + 3 + 6) / 3 = 4; case b: 3 - 1 = 2, its second repeat has no baseline
    assert (row["pairs"], row["missing"], row["cases"]) == (4, 2, 2)
    assert row["baseline_mean"] == (0 + 1) / 2
    assert row["candidate_mean"] == (4 + 3) / 2
    assert row["mean_delta"] == (4 + 2) / 2
    assert (row["min_delta"], row["max_delta"]) == (2, 6)
    # sd of (4, 2) is sqrt(2), over sqrt(2) cases
    assert row["standard_error"] == pytest.approx(1.0, abs=1e-15)
    assert row["ci_low"] == pytest.approx(3 - 12.706204736174694, abs=1e-12)
    assert row["ci_high"] == pytest.approx(3 + 12.706204736174694, abs=1e-12)


def test_one_case_has_no_standard_error(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}},
            metrics=[Metric("m")],
            trials=[*cells("base", {("a", 0): 1.0}), *cells("c1", {("a", 0): 2.0})],
        )
    )
    (row,) = read("from comparisons")
    assert row["mean_delta"] == 1.0
    assert (row["standard_error"], row["ci_low"], row["ci_high"]) == (None, None, None)


def test_a_metric_without_pairs_keeps_its_row(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], repeats=2))
    (row,) = read("from comparisons")
    assert (row["pairs"], row["missing"], row["cases"]) == (0, 2, 0)
    assert [row[name] for name in NUMBERS] == [None] * len(NUMBERS)


def test_nothing_is_said_where_the_projections_are_not_whole(write: Write, read: Read, root: Path) -> None:
    trials = [*cells("base", {("a", 0): 1.0}), *cells("c1", {("a", 0): 2.0})]
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], trials=trials), segment_events=3)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    (row,) = read("from comparisons")
    assert not row["is_whole"]
    assert [row[name] for name in ("pairs", "missing", "cases", *NUMBERS)] == [None] * (3 + len(NUMBERS))


def test_a_metric_with_more_pairs_than_repeats_says_nothing(write: Write, read: Read, root: Path) -> None:
    trials = [Trial(who, "a", 0, {"m": 1.0, "n": 2.0}) for who in ("base", "c1")]
    write(Campaign(cases={"a": {"k": "v"}}, metrics=[Metric("m"), Metric("n")], trials=trials))
    (file,) = root.glob("measurements/campaign=[!n]*/*.parquet")
    with duckdb.connect() as con:  # the candidate's n is told as a second m, so that counts and coordinates still agree
        con.execute(
            f"create table kept as select * replace (if(arm = 'candidate', 'm', metric) as metric) from '{file}'; "
            f"copy kept to '{file}'"
        )
    for view in ("comparisons", "strata"):
        assert read(f"select metric, is_whole, pairs, missing from {view} order by metric") == [
            {"metric": "m", "is_whole": False, "pairs": None, "missing": None},
            {"metric": "n", "is_whole": True, "pairs": 0, "missing": 1},
        ]


def test_values_of_1e100_overflow_nothing(write: Write, read: Read) -> None:
    values = {"a": 1e100, "b": -1e100, "c": 1e100}
    trials = [
        *cells("base", {(case, 0): -value for case, value in values.items()}),
        *cells("c1", {(case, 0): value for case, value in values.items()}),
    ]
    write(Campaign(cases={name: {} for name in "abc"}, metrics=[Metric("m")], trials=trials))
    (row,) = read("from comparisons")
    assert row["mean_delta"] == pytest.approx(2e100 / 3, rel=1e-14)
    assert all(math.isfinite(row[name]) for name in NUMBERS)


def test_a_large_common_offset_does_not_swallow_the_spread(write: Write, read: Read) -> None:
    deltas = [1.0, 2.0, 3.0, 4.0]
    cases: dict[str, Any] = {str(ix): {} for ix in range(4)}
    trials = [
        *cells("base", {(str(ix), 0): 0.0 for ix in range(4)}),
        *cells("c1", {(str(ix), 0): 2.0**40 + delta for ix, delta in enumerate(deltas)}),
    ]
    write(Campaign(cases=cases, metrics=[Metric("m")], trials=trials))
    (row,) = read("from comparisons")
    # variance of 1, 2, 3, 4 is 5/3, over 4 cases
    assert row["standard_error"] == pytest.approx(math.sqrt(5 / 3 / 4), rel=1e-12)


def test_two_campaigns_do_not_mix(write: Write, read: Read) -> None:
    trials = [*cells("base", {("a", 0): 1.0}), *cells("c1", {("a", 0): 2.0})]
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], trials=trials))
    write(Campaign(cases={"a": {}}, metrics=[Metric("m", -1)], trials=trials, name="other"))
    assert sorted(row["mean_delta"] for row in read("from comparisons")) == [-1.0, 1.0]
