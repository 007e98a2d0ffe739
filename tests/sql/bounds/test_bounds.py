from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

LIMITS = (
    "mean_delta_low",
    "mean_delta_high",
    "min_delta_low",
    "min_delta_high",
    "candidate_mean_low",
    "candidate_mean_high",
)


def limits(read: Read) -> Any:
    (row,) = read("from bounds")
    return tuple(row[name] for name in LIMITS)


def campaign(metric: Any, base: Any, candidate: Any, repeats: Any = 1) -> Any:
    cases: dict[str, Any] = {name: {} for name in "abcd"[: max(len(base), len(candidate)) // repeats or 1]}
    coordinates = [(case, repeat) for case in cases for repeat in range(repeats)]
    trials = [
        Trial(who, case, repeat, {"m": value})
        for who, values in (("base", base), ("c1", candidate))
        for (case, repeat), value in zip(coordinates, values, strict=True)
    ]
    return Campaign(cases=cases, metrics=[metric], trials=trials, repeats=repeats, preference="m")


def test_without_gaps_the_bounds_are_the_estimate(write: Write, read: Read) -> None:
    write(campaign(Metric("m"), [0.25, 0.5], [0.75, 0.5]))
    assert limits(read) == (0.25, 0.25, 0.0, 0.0, 0.625, 0.625)


def test_the_known_arm_of_a_pair_tightens_its_bounds(write: Write, read: Read) -> None:
    # pairs: found +0.5; baseline known 0.25; candidate known 0.75; neither known
    write(campaign(Metric("m", 1, 0, 1), [0.0, 0.25, None, None], [0.5, None, 0.75, None]))
    assert limits(read) == (
        (0.5 + (0 - 0.25) + (0.75 - 1) + (0 - 1)) / 4,
        (0.5 + (1 - 0.25) + (0.75 - 0) + (1 - 0)) / 4,
        -1.0,
        0.5,
        (0.5 + 0 + 0.75 + 0) / 4,
        (0.5 + 1 + 0.75 + 1) / 4,
    )


def test_where_less_is_better_the_upper_end_is_worst(write: Write, read: Read) -> None:
    # found 3 - 1 = 2; baseline known 2, candidate between 0 and 10: 2 - 10 to 2 - 0
    write(campaign(Metric("m", -1, 0, 10), [3.0, 2.0], [1.0, None]))
    assert limits(read) == ((2 - 8) / 2, (2 + 2) / 2, -8.0, 2.0, (1 + 0) / 2, (1 + 10) / 2)


def test_a_bound_that_needs_an_undeclared_end_is_unknown(write: Write, read: Read) -> None:
    # no upper end: a missing value of the candidate may be arbitrarily bad, but at best 0
    write(campaign(Metric("m", -1, 0, None), [3.0, 2.0], [1.0, None]))
    assert limits(read) == (None, (2 + 2) / 2, None, 2.0, (1 + 0) / 2, None)


def test_without_a_range_one_gap_leaves_all_open_but_what_was_found(write: Write, read: Read) -> None:
    write(campaign(Metric("m"), [0.0, 0.0], [-3.0, None]))
    # the pair found is -3, so that the least delta cannot be more than that
    assert limits(read) == (None, None, None, -3.0, None, None)


def test_the_mean_of_the_candidate_needs_no_baseline(write: Write, read: Read) -> None:
    write(campaign(Metric("m"), [None, 0.0], [1.0, 2.0]))
    assert limits(read)[4:] == (1.5, 1.5)


def test_gaps_weigh_by_the_declared_grid_not_by_what_was_found(write: Write, read: Read) -> None:
    # case a lacks one of two repeats: (1 + fill) / 2; case b is whole: 0
    write(campaign(Metric("m", 1, 0, 1), [0.0, 0.0, 0.5, 0.5], [1.0, None, 0.5, 0.5], repeats=2))
    assert limits(read) == (
        (1 + 0) / 2 / 2,
        (1 + 1) / 2 / 2,
        0.0,
        0.0,
        pytest.approx((0.5 + 0.5) / 2),
        pytest.approx(0.75),
    )


def test_nothing_found_is_bounded_by_the_range_alone(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}, "b": {}}, metrics=[Metric("m", 1, 0, 2)], preference="m"))
    assert limits(read) == (-2.0, 2.0, -2.0, 2.0, 0.0, 2.0)


def test_where_the_projections_are_not_whole_every_bound_is_unknown(write: Write, read: Read, root: Path) -> None:
    write(campaign(Metric("m", 1, 0, 1), [0.0], [1.0]), segment_events=3)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    assert limits(read) == (None,) * 6
