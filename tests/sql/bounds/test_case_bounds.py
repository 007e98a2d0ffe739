from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

COLUMNS = (
    "missing",
    "mean_delta",
    "min_delta",
    "delta_low",
    "delta_high",
    "min_delta_low",
    "min_delta_high",
    "candidate_low",
    "candidate_high",
)


def told(read: Read) -> Any:
    """Return the bounds of each case."""
    return {row["case_id"]: tuple(row[name] for name in COLUMNS) for row in read("from case_bounds")}


def campaign(metric: Any, pairs: Any, **more: Any) -> Any:
    """Return a campaign with these (baseline, candidate) values at each repeat of each case."""
    trials = [
        Trial(who, case, repeat, {metric.metric: value})
        for case, repeats in pairs.items()
        for repeat, values in enumerate(repeats)
        for who, value in zip(("base", "c1"), values, strict=True)
    ]
    repeats = max(map(len, pairs.values()))
    given: dict[str, Any] = {"preference": "m"} | more
    return Campaign(cases={case: {} for case in pairs}, metrics=[metric], trials=trials, repeats=repeats, **given)


def test_a_case_without_gaps_has_bounds_that_equal_what_was_found(write: Write, read: Read) -> None:
    # deltas 0.25 and -0.5
    write(campaign(Metric("m"), {"a": [(0.25, 0.5), (0.75, 0.25)]}))
    assert told(read) == {"a": (0, -0.125, -0.5, -0.125, -0.125, -0.5, -0.5, 0.375, 0.375)}


def test_a_gap_in_one_case_leaves_the_other_case_as_it_was_found(write: Write, read: Read) -> None:
    # a: found +0.25; then the baseline's 0.75 against a candidate between 0 and 1, that is -0.75 to +0.25
    write(campaign(Metric("m", 1, 0, 1), {"a": [(0.25, 0.5), (0.75, None)], "b": [(0.0, 0.5), (0.5, 0.25)]}))
    assert told(read) == {
        "a": (1, 0.25, 0.25, (0.25 - 0.75) / 2, (0.25 + 0.25) / 2, -0.75, 0.25, 0.5 / 2, 1.5 / 2),
        "b": (0, 0.125, -0.25, 0.125, 0.125, -0.25, -0.25, 0.375, 0.375),
    }


def test_a_case_without_a_pair_lies_between_the_ends_of_the_range(write: Write, read: Read) -> None:
    # less is better: at worst 10 after 0, at best 0 after 10; at b the baseline is known to be 4
    write(campaign(Metric("m", -1, 0, 10), {"a": [(None, None)], "b": [(4.0, None)]}))
    assert told(read) == {
        "a": (1, None, None, -10.0, 10.0, -10.0, 10.0, 0.0, 10.0),
        "b": (1, None, None, -6.0, 4.0, -6.0, 4.0, 0.0, 10.0),
    }


def test_an_end_that_is_not_declared_leaves_its_bounds_unknown(write: Write, read: Read) -> None:
    # no upper end; at a repeat 0 is found with +2, and repeat 1 with a candidate of at least 0 against 1 is at least -1
    write(campaign(Metric("m", 1, 0, None), {"a": [(1.0, 3.0), (1.0, None)]}))
    assert told(read) == {"a": (1, 2.0, 2.0, (2 - 1) / 2, None, -1.0, 2.0, 1.5, None)}


def test_only_judged_metrics_have_bounds(write: Write, read: Read) -> None:
    write(campaign(Metric("m"), {"a": [(0.0, 1.0)]}, preference=None))
    assert told(read) == {}


@pytest.mark.parametrize("gate", ["mean_delta", "candidate_mean"])
def test_a_metric_that_a_gate_names_has_bounds_without_a_preference(write: Write, read: Read, gate: Any) -> None:
    write(campaign(Metric("m"), {"a": [(0.0, 1.0)]}, preference=None, gates=[{"kind": gate, "metric": "m"}]))
    assert told(read).keys() == {"a"}


def test_where_the_projections_are_not_whole_no_case_has_bounds(write: Write, read: Read, root: Path) -> None:
    write(campaign(Metric("m", 1, 0, 1), {"a": [(0.0, 1.0)], "b": [(0.0, 1.0)]}), segment_events=3)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    assert told(read) == {}
