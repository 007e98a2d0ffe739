"""Whose signs a permutation test flips: deltas of cases, missing ones at their worst, in each scope of the gate."""

from __future__ import annotations

from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def family(name: str, metric: str, **options: Any) -> dict[str, Any]:
    return {"kind": "family", "name": name, "metric": metric, "options": options}


CAMPAIGN = Campaign(
    cases={"a": {"half": "one"}, "b": {"half": "two"}},
    metrics=[Metric("m", lower=0, upper=10), Metric("open")],
    clusters={"b": "two"},
    repeats=2,
    gates=[
        family("whole", "m", method="max_t"),
        family("by half", "m", method="max_t", within="half"),
        family("holm", "m"),
        family("open", "open", method="max_t"),
        family("wrong", "m", method="max_t", alpha=7),
    ],
    trials=[
        Trial("base", "a", 0, {"m": 1.0, "open": 1.0}),
        Trial("base", "a", 1, {"m": 2.0, "open": 1.0}),
        Trial("base", "b", 0, {"m": 5.0, "open": 1.0}),
        Trial("base", "b", 1, {"m": 5.0, "open": 1.0}),
        Trial("c1", "a", 0, {"m": 4.0, "open": 2.0}),
        Trial("c1", "a", 1, {"m": 3.0, "open": 2.0}),
        Trial("c1", "b", 0, {"m": 9.0, "open": 2.0}),
        Trial("c1", "b", 1, {"m": None, "open": None}),
    ],
)


def test_missing_values_are_the_worst_and_without_a_bound_unknown(write: Write, read: Read) -> None:
    write(CAMPAIGN)
    rows = read("select gate_ix, candidate_id, scope, case_id, cluster, value from permuted_units order by all")
    # Case a: (3 + 1) / 2. Case b: 9 - 5 and at worst 0 - 5, on average -.5.
    assert [list(row.values()) for row in rows] == [
        [0, "c1", "", "a", "case a", 2.0],
        [0, "c1", "", "b", "cluster two", -0.5],
        [1, "c1", '{"half":"one"}', "a", "case a", 2.0],
        [1, "c1", '{"half":"two"}', "b", "cluster two", -0.5],
        [3, "c1", "", "a", "case a", 1.0],
        [3, "c1", "", "b", "cluster two", None],
    ]
