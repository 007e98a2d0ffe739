"""Gates of the base over scopes: what they find in the cases of a group, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

ROLES = {"a": {"role": "user"}, "b": {"role": "user"}, "c": {"role": "admin"}}
SHARES = {"a": (0.0, 0.75), "b": (0.0, 0.75), "c": (0.5, 0.25)}  # better for users by 0.75, worse for admins by 0.25
NO_CASE = "no case of the workload belongs to this scope"


MEAN: dict[str, Any] = {"kind": "mean_delta", "metric": "m", "threshold": 0.0}
WORST: dict[str, Any] = {"kind": "worst_delta", "metric": "m", "threshold": 0.0}
OWN: dict[str, Any] = {"kind": "candidate_mean", "metric": "m", "options": {"at_least": 0.5}}
COVERAGE: dict[str, Any] = {"kind": "coverage"}
FAILURES: dict[str, Any] = {"kind": "failures"}
KINDS = (MEAN, WORST, OWN, COVERAGE, FAILURES)


def judged(
    write: Write, read: Read, gates: Any, shares: Any = SHARES, cases: Any = ROLES, metric: Any = None
) -> list[Any]:
    """Return status and message of each (gate, within) of one policy.

    A share is the value of the baseline and of the candidate; text is the status of a cell instead, or `absent`.
    """
    trials = [
        Trial(who, case, 0, {}, told, "x") if isinstance(told, str) else Trial(who, case, 0, {"m": told})
        for case, values in shares.items()
        for who, told in zip(("base", "c1"), values, strict=True)
        if told != "absent"
    ]
    listed = [
        {**gate, "name": f"g{ix}", "options": {**gate.get("options", {}), "within": within}}
        for ix, (gate, within) in enumerate(gates)
    ]
    name = write(Campaign(cases=cases, metrics=[metric or Metric("m")], gates=listed, trials=trials))
    query = f"select status, message from gate_results where campaign_id = '{name}' order by gate_ix"
    return [tuple(row.values()) for row in read(query)]


def test_a_value_gate_judges_over_the_cases_of_its_scope(write: Write, read: Read) -> None:
    table: list[Any] = [
        (MEAN, None, "pass"),  # (0.75 + 0.75 - 0.25) / 3
        (MEAN, {"role": "user"}, "pass"),
        (MEAN, {"role": "admin"}, "fail"),
        (MEAN, "role", "fail"),
        (WORST, None, "fail"),
        (WORST, {"role": "user"}, "pass"),
        (OWN, None, "pass"),  # (0.75 + 0.75 + 0.25) / 3
        (OWN, {"role": "admin"}, "fail"),
        (OWN, "role", "fail"),
    ]
    found = judged(write, read, [row[:2] for row in table])
    assert [status for status, _ in found] == [row[2] for row in table]
    assert found[3][1] == ("in role = admin, which decides of 2: mean oriented delta of m is -0.25, at least 0 asked")


def test_a_gap_outside_the_scope_leaves_nothing_open(write: Write, read: Read) -> None:
    gates = [(MEAN, {"role": "user"}), (MEAN, {"role": "admin"})]
    users, admins = judged(write, read, gates, SHARES | {"c": (0.5, None)}, metric=Metric("m", 1, 0, 1))
    assert users == ("pass", "in role = user: mean oriented delta of m is 0.75, at least 0 asked")
    assert admins == (
        "indeterminate",
        "in role = admin: mean oriented delta of m is unknown, at least 0 asked; "
        "pairs missing: 1, with them it lies between -0.5 and 0.5",
    )


@pytest.mark.parametrize("pair", [(0.5, "absent"), ("absent", 0.5), ("absent", "absent")])
def test_coverage_counts_the_pairs_of_its_scope(write: Write, read: Read, pair: Any) -> None:
    gates = [(COVERAGE, within) for within in (None, {"role": "user"}, {"role": "admin"}, "role")]
    assert judged(write, read, gates, SHARES | {"c": pair}) == [
        ("indeterminate", "complete pairs: 2 of 3 declared"),
        ("pass", "in role = user: complete pairs: 2 of 2 declared"),
        ("indeterminate", "in role = admin: complete pairs: 0 of 1 declared"),
        ("indeterminate", "in role = admin, which decides of 2: complete pairs: 0 of 1 declared"),
    ]


def test_a_cell_off_the_grid_leaves_the_coverage_of_every_scope_open(write: Write, read: Read) -> None:
    assert judged(write, read, [(COVERAGE, {"role": "user"})], SHARES | {"stray": ("absent", 0.5)}) == [
        ("indeterminate", "in role = user: complete pairs: 2 of 2 declared, unexpected cells: 1")
    ]


def test_a_baseline_cell_of_someone_else_completes_no_pair(write: Write, read: Read) -> None:
    gate = {"kind": "coverage", "options": {"within": {"role": "user"}}}
    trials = [Trial("c1", "a"), Trial("c1", "a", arm="baseline")]
    write(Campaign(cases={"a": {"role": "user"}}, metrics=[Metric("m")], gates=[gate], trials=trials))
    assert read("select status, value, threshold from gate_results") == [
        {"status": "indeterminate", "value": 0.0, "threshold": 1.0}
    ]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((0.5, "domain_failure"), ["pass", "fail", "fail"]),
        (("cancelled", 0.5), ["pass", "indeterminate", "indeterminate"]),
        ((0.5, "infrastructure_failure"), ["pass", "indeterminate", "indeterminate"]),
    ],
)
def test_failures_are_counted_in_the_scope(write: Write, read: Read, pair: Any, expected: Any) -> None:
    gates = [(FAILURES, within) for within in ({"role": "user"}, {"role": "admin"}, "role")]
    assert [status for status, _ in judged(write, read, gates, SHARES | {"c": pair})] == expected


def test_no_gate_judges_over_a_scope_without_cases(write: Write, read: Read) -> None:
    withins: list[Any] = [{"role": "guest"}, {"role": "user", "lang": "de"}, {"age": "30"}, "age"]
    found = judged(write, read, [(gate, within) for gate in KINDS for within in withins])
    assert {status for status, _ in found} == {"indeterminate"}
    assert all(message.endswith(NO_CASE) for _, message in found)


def test_no_gate_passes_over_a_key_that_a_case_lacks(write: Write, read: Read) -> None:
    gates = [(gate, within) for within in ({"role": "user"}, "role") for gate in KINDS]
    found = judged(write, read, gates, SHARES | {"c": (0.0, 0.75)}, ROLES | {"c": {}})
    assert [status for status, _ in found[:5]] == ["pass"] * 5
    assert found[5:] == [("indeterminate", f"in role = (none), which decides of 2: {NO_CASE}")] * 5


def test_no_gate_judges_over_a_scope_while_projections_are_not_whole(write: Write, read: Read, root: Path) -> None:
    gates = [(gate, within) for within in ({"role": "user"}, "role") for gate in KINDS]
    judged(write, read, gates)
    next(root.glob("measurements/campaign=[!n]*/*.parquet")).unlink()
    found = read("select status, message from gate_results")
    assert len(found) == 10
    for row in found:
        assert row["status"] == "indeterminate"
        assert row["message"].endswith(
            "the projections do not hold what the ledger accepted; look again, or run an audit"
        )
