from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def judged(write: Write, read: Read, gate: Any, trials: Any, metric: Any = None, cases: Any = "ab") -> Any:
    """Return status, message, value and threshold of one gate over trials given as (who, case, value or status)."""
    accepted = [
        Trial(who, case, 0, {}, status=told) if isinstance(told, str) else Trial(who, case, 0, {"m": told})
        for who, case, told in trials
    ]
    write(Campaign(cases={name: {} for name in cases}, metrics=[metric or Metric("m")], gates=[gate], trials=accepted))
    (row,) = read("select status, message, value, threshold from gate_results")
    return row["status"], row["message"], row["value"], row["threshold"]


PAIR = [("base", "a", 0.5), ("base", "b", 0.5)]
BOTH = [*PAIR, ("c1", "a", 0.75), ("c1", "b", 0.25)]


def test_coverage_passes_what_is_complete(write: Write, read: Read) -> None:
    assert judged(write, read, {"kind": "coverage"}, BOTH) == ("pass", "complete pairs: 2 of 2 declared", 2.0, 2.0)


def test_coverage_never_fails_what_is_missing(write: Write, read: Read) -> None:
    assert judged(write, read, {"kind": "coverage"}, BOTH[:3])[0] == "indeterminate"


@pytest.mark.parametrize(
    ("base", "candidate", "options", "expected"),
    [
        ("success", "success", {}, "pass"),
        ("success", "domain_failure", {}, "fail"),
        ("success", "domain_failure", {"max": 1}, "pass"),
        ("success", "infrastructure_failure", {}, "indeterminate"),
        ("success", "cancelled", {}, "indeterminate"),
        ("infrastructure_failure", "success", {}, "indeterminate"),
        ("infrastructure_failure", "domain_failure", {}, "fail"),  # the candidate failed, whatever the baseline did
        ("success", "infrastructure_failure", {"infrastructure": "count"}, "fail"),
        ("success", "infrastructure_failure", {"infrastructure": "count", "max": 1}, "pass"),
        ("domain_failure", "success", {}, "pass"),
        ("domain_failure", "success", {"arms": "both"}, "indeterminate"),
        ("domain_failure", "domain_failure", {"arms": "both"}, "fail"),
    ],
)
def test_failures(write: Write, read: Read, base: Any, candidate: Any, options: Any, expected: Any) -> None:
    trials = [("base", "a", base), ("base", "b", 1.0), ("c1", "a", candidate), ("c1", "b", 1.0)]
    status, message, _, allowed = judged(write, read, {"kind": "failures", "options": options}, trials)
    assert status == expected
    assert allowed == options.get("max", 0)
    counts = {"domain_failure"} | ({"infrastructure_failure"} if options.get("infrastructure") == "count" else set())
    assert message.startswith(f"failures of the candidate: {int(candidate in counts)}, {options.get('max', 0)} allowed")


@pytest.mark.parametrize(
    ("threshold", "values", "metric", "expected"),
    [
        (0.0, (0.75, 0.25), Metric("m"), "pass"),  # (0.25 - 0.25) / 2 = 0
        (1e-12, (0.75, 0.25), Metric("m"), "fail"),
        (0.0, (0.75, None), Metric("m", 1, 0, 1), "indeterminate"),  # (0.25 - 0.5) / 2 to (0.25 + 0.5) / 2
        (-0.125, (0.75, None), Metric("m", 1, 0, 1), "pass"),
        (0.376, (0.75, None), Metric("m", 1, 0, 1), "fail"),
        (0.375, (0.75, None), Metric("m", 1, 0, 1), "indeterminate"),
        (-9.0, (0.75, None), Metric("m"), "indeterminate"),  # no range: nothing bounds what is missing
        (-0.5, (None, None), Metric("m", 1, 0, 1), "pass"),  # no pair, and yet decided
        (0.0, (None, None), Metric("m", 1, 0, 1), "indeterminate"),
    ],
)
def test_mean_delta(write: Write, read: Read, threshold: Any, values: Any, metric: Any, expected: Any) -> None:
    trials = [*PAIR, *(("c1", case, value) for case, value in zip("ab", values, strict=True))]
    gate = {"kind": "mean_delta", "metric": "m", "threshold": threshold}
    assert judged(write, read, gate, trials, metric)[0] == expected


def test_mean_delta_says_value_bound_and_reason(write: Write, read: Read) -> None:
    gate = {"kind": "mean_delta", "metric": "m", "threshold": 0.0}
    _, message, value, threshold = judged(
        write, read, gate, [*PAIR, ("c1", "a", 0.75), ("c1", "b", None)], Metric("m", 1, 0, 1)
    )
    assert message == (
        "mean oriented delta of m is 0.25, at least 0 asked; "
        "pairs missing: 1, with them it lies between -0.125 and 0.375"
    )
    assert (value, threshold) == (0.25, 0.0)


def test_a_gap_without_a_declared_range_names_the_remedy(write: Write, read: Read) -> None:
    gates: list[dict[str, Any]] = [
        {"kind": "mean_delta", "metric": "open", "threshold": 0.0},
        {"kind": "mean_delta", "metric": "half", "threshold": 0.0},
        {"kind": "mean_delta", "metric": "declared", "threshold": 0.0},
        {"kind": "worst_delta", "metric": "open", "threshold": 0.0},
        {"kind": "worst_delta", "metric": "open", "threshold": 0.5},  # it fails, whatever is missing
        {"kind": "candidate_mean", "metric": "open", "options": {"at_least": 0}},
        {"kind": "candidate_mean", "metric": "half", "options": {"at_most": -1}},  # likewise
    ]
    metrics = [Metric("open"), Metric("half", 1, 0, None), Metric("declared", 1, 0, 1)]
    trials = [
        Trial(who, case, 0, {each.metric: value for each in metrics})
        for who, case, value in [*PAIR, ("c1", "a", 0.75), ("c1", "b", None)]
    ]
    named = [{**gate, "name": str(ix)} for ix, gate in enumerate(gates)]
    write(Campaign(cases={"a": {}, "b": {}}, metrics=metrics, gates=named, trials=trials))
    rows = read("select name, metric, message from gate_results order by gate_ix")
    remedy = "; declare both ends of the range of {0}, for an intake with --bounds {0}=LOW:HIGH"
    assert [row["name"] for row in rows if remedy.format(row["metric"]) in row["message"]] == ["0", "1", "3", "5"]


@pytest.mark.parametrize(
    ("threshold", "values", "metric", "expected"),
    [
        (-0.25, (0.75, 0.25), Metric("m"), "pass"),
        (-0.2, (0.75, 0.25), Metric("m"), "fail"),
        (0.5, (0.75, None), Metric("m"), "fail"),  # one pair below is enough
        (0.0, (0.75, None), Metric("m"), "indeterminate"),
        (0.0, (0.75, None), Metric("m", 1, 0, 1), "indeterminate"),
        (-0.5, (0.75, None), Metric("m", 1, 0, 1), "pass"),  # at worst 0 - 0.5
        (0.6, (None, None), Metric("m", 1, 0, 1), "fail"),  # at best 1 - 0.5
    ],
)
def test_worst_delta(write: Write, read: Read, threshold: Any, values: Any, metric: Any, expected: Any) -> None:
    trials = [*PAIR, *(("c1", case, value) for case, value in zip("ab", values, strict=True))]
    gate = {"kind": "worst_delta", "metric": "m", "threshold": threshold}
    assert judged(write, read, gate, trials, metric)[0] == expected


@pytest.mark.parametrize(
    ("options", "values", "metric", "expected"),
    [
        ({"at_most": 3}, (2.0, 4.0), Metric("m", -1), "pass"),
        ({"at_most": 2.9}, (2.0, 4.0), Metric("m", -1), "fail"),
        ({"at_least": 3}, (2.0, 4.0), Metric("m", -1), "pass"),  # unoriented: in the metric's own unit
        ({"at_least": 3.1}, (2.0, 4.0), Metric("m", -1), "fail"),
        ({"at_least": 1, "at_most": 5}, (2.0, 4.0), Metric("m"), "pass"),
        ({"at_least": 1, "at_most": 2}, (2.0, 4.0), Metric("m"), "fail"),
        ({"at_most": 3}, (2.0, None), Metric("m", -1, 0, 10), "indeterminate"),  # 1 to 6
        ({"at_most": 6}, (2.0, None), Metric("m", -1, 0, 10), "pass"),
        ({"at_most": 0.9}, (2.0, None), Metric("m", -1, 0, 10), "fail"),
        ({"at_most": 0.9}, (2.0, None), Metric("m", -1, 0, None), "fail"),
        ({"at_most": 9}, (2.0, None), Metric("m", -1, 0, None), "indeterminate"),
        ({}, (2.0, 4.0), Metric("m"), "indeterminate"),
    ],
)
def test_candidate_mean(write: Write, read: Read, options: Any, values: Any, metric: Any, expected: Any) -> None:
    trials = [*PAIR, *(("c1", case, value) for case, value in zip("ab", values, strict=True))]
    gate = {"kind": "candidate_mean", "metric": "m", "options": options}
    assert judged(write, read, gate, trials, metric)[0] == expected


@pytest.mark.parametrize(
    "gate",
    [
        {"kind": "coverage"},
        {"kind": "failures"},
        {"kind": "mean_delta", "metric": "m", "threshold": 0.0},
        {"kind": "worst_delta", "metric": "m", "threshold": 0.0},
        {"kind": "candidate_mean", "metric": "m", "options": {"at_least": 0}},
    ],
)
def test_every_gate_says_alike_that_nothing_can_be_judged(write: Write, read: Read, root: Path, gate: Any) -> None:
    trials = [Trial(who, case, 0, {"m": value}) for who, case, value in BOTH]
    write(Campaign(cases={"a": {}, "b": {}}, metrics=[Metric("m")], gates=[gate], trials=trials))
    next(root.glob("measurements/campaign=[!n]*/*.parquet")).unlink()
    message = "the projections do not hold what the ledger accepted; look again, or run an audit"
    assert read("select status, message from gate_results") == [{"status": "indeterminate", "message": message}]
    assert read("select decision, message from decisions") == [{"decision": "indeterminate", "message": message}]


def test_a_gate_of_an_unknown_kind_is_indeterminate_and_says_so(write: Write, read: Read) -> None:
    status, message, value, _ = judged(write, read, {"kind": "astrology"}, BOTH)
    assert (status, value) == ("indeterminate", None)
    assert message == "gate kind astrology gave no verdict: the kind or the metric is unknown here"


def test_a_gate_on_an_unknown_metric_is_indeterminate(write: Write, read: Read) -> None:
    assert judged(write, read, {"kind": "mean_delta", "metric": "n", "threshold": 0.0}, BOTH)[0] == "indeterminate"


def test_later_gates_are_reached_only_past_passing_ones(write: Write, read: Read) -> None:
    gates: list[dict[str, Any]] = [
        {"kind": "coverage", "name": "first"},
        {"kind": "mean_delta", "name": "second", "metric": "m", "threshold": 9.0},
        {"kind": "failures", "name": "third"},
    ]
    trials = [Trial(who, case, 0, {"m": value}) for who, case, value in BOTH]
    write(Campaign(cases={"a": {}, "b": {}}, metrics=[Metric("m")], gates=gates, trials=trials))
    assert [
        tuple(row.values()) for row in read("select name, status, is_reached from gate_results order by gate_ix")
    ] == [
        ("first", "pass", True),
        ("second", "fail", True),
        ("third", "pass", False),
    ]


@pytest.mark.parametrize(
    ("gate", "options"),
    [
        ("failures", {"max": "abc"}),
        ("failures", {"max": [1, 2]}),
        ("failures", {"max": 1.5}),
        ("failures", {"max": -1}),
        ("failures", {"arms": "neither"}),
        ("failures", {"infrastructure": "ignore"}),
        ("candidate_mean", {"at_least": "zero"}),
        ("candidate_mean", {"at_least": "nan", "at_most": 1}),
        ("candidate_mean", {"at_most": "inf"}),
    ],
)
def test_an_option_that_is_not_understood_leaves_the_verdict_open_and_says_so(
    write: Write, read: Read, gate: str, options: dict[str, Any]
) -> None:
    told = judged(write, read, {"kind": gate, "metric": "m", "options": options}, BOTH)
    assert told[0] == "indeterminate"
    assert "is not understood" in told[1]
