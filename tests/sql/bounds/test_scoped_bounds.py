from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

COLUMNS = (
    "cases",
    "missing",
    "mean_delta",
    "min_delta",
    "mean_delta_low",
    "mean_delta_high",
    "min_delta_low",
    "min_delta_high",
    "candidate_mean_low",
    "candidate_mean_high",
)

# deltas: a +0.5, b -0.25, c +0.25, d lacks the candidate's value beside 0.25
PAIRS = {"a": (0.25, 0.75), "b": (0.5, 0.25), "c": (0.0, 0.25), "d": (0.25, None)}
CASES = {"a": {"role": "user"}, "b": {"role": "admin"}, "c": {"role": "user"}, "d": {"role": "admin"}}


def gate(within: Any, metric: str = "m") -> Any:
    options = {} if within is None else {"within": within}
    return {"kind": "mean_delta", "name": f"{within}", "metric": metric, "threshold": 0.0, "options": options}


def campaign(*gates: Any, **more: Any) -> Any:
    trials = [
        Trial(who, case, 0, {"m": value, "n": 1.0})
        for case, values in PAIRS.items()
        for who, value in zip(("base", "c1"), values, strict=True)
    ]
    return Campaign(cases=CASES, metrics=[Metric("m", 1, 0, 1), Metric("n")], trials=trials, gates=gates, **more)


def told(read: Read) -> Any:
    return {(row["metric"], row["scope"]): tuple(row[name] for name in COLUMNS) for row in read("from bounds")}


ALL = (4, 1, 0.5 / 3, -0.25, (0.5 - 0.25) / 4, (0.5 + 0.75) / 4, -0.25, -0.25, 1.25 / 4, 2.25 / 4)


def test_each_scope_is_bounded_over_its_own_cases(write: Write, read: Read) -> None:
    write(campaign(gate("role")))
    found = told(read)
    assert found.pop(("m", "")) == ALL
    assert found == {
        ("m", '{"role":"user"}'): (2, 0, 0.375, 0.25, 0.375, 0.375, 0.25, 0.25, 0.5, 0.5),
        # b is found; d lies between 0 - 0.25 and 1 - 0.25
        ("m", '{"role":"admin"}'): (2, 1, -0.25, -0.25, -0.5 / 2, 0.5 / 2, -0.25, -0.25, 0.25 / 2, 1.25 / 2),
    }


def test_a_metric_is_bounded_in_the_scopes_of_its_own_gates_only(write: Write, read: Read) -> None:
    write(campaign(gate({"role": "user"}), gate({"role": "admin"}, "n"), preference="n"))
    assert told(read).keys() == {("m", ""), ("n", ""), ("m", '{"role":"user"}'), ("n", '{"role":"admin"}')}


def test_two_gates_of_one_scope_share_a_row(write: Write, read: Read) -> None:
    write(campaign(gate("role"), gate({"role": "user"}), gate(None)))
    assert len(read("from bounds")) == len(told(read)) == 3


def test_a_scope_without_cases_has_a_row_of_unknown_bounds(write: Write, read: Read) -> None:
    write(campaign(gate({"role": "guest"})))
    assert told(read)["m", '{"role":"guest"}'] == (0, 0, *(None,) * 8)


def test_where_the_projections_are_not_whole_counts_and_bounds_are_unknown(
    write: Write, read: Read, root: Path
) -> None:
    write(campaign(gate("role")), segment_events=3)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    assert set(told(read).values()) == {(None,) * 10}
    assert [row["is_whole"] for row in read("from bounds")] == [False] * 3
