"""The gate `review`: which reviews count, which of them stand, and what they decide."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write
from tests.sql.reviewing import Said, with_reviews

ANN, BEA, CID = "aa" * 32, "bb" * 32, "cc" * 32
Options = dict[str, Any]


def asking(**options: Any) -> Campaign:
    gates = [{"kind": "review", "options": options}]
    return Campaign(cases={"a": {}}, metrics=[Metric("m")], candidates=["c1", "c2"], gates=gates)


def verdict(read: Read, candidate: str = "c1") -> tuple[str, str, float | None, float | None]:
    rows = read(f"select status, message, value, threshold from gate_review where candidate_id = '{candidate}'")
    assert len(rows) == 1
    return tuple(rows[0].values())


OPEN = "indeterminate"
CASES: list[tuple[str, Options, list[Said], tuple[str, str, float, float]]] = [
    ("nobody reviewed", {}, [], (OPEN, "awaiting review: 0 of 1 approvals", 0, 1)),
    ("one approval", {}, [Said("c1", "approve", "ann")], ("pass", "approvals: 1 of 1", 1, 1)),
    ("of another candidate", {}, [Said("c2", "approve", "ann")], (OPEN, "awaiting review: 0 of 1 approvals", 0, 1)),
    (
        "one reviewer twice",
        {"approvals": 2},
        [Said("c1", "approve", "ann"), Said("c1", "approve", "ann")],
        (OPEN, "awaiting review: 1 of 2 approvals", 1, 2),
    ),
    (
        "two reviewers",
        {"approvals": 2},
        [Said("c1", "approve", "ann"), Said("c1", "approve", "bea")],
        ("pass", "approvals: 2 of 2", 2, 2),
    ),
    (
        "a rejection outweighs approvals",
        {},
        [Said("c1", "approve", "ann"), Said("c1", "reject", "bea"), Said("c1", "reject", "cid")],
        ("fail", "rejected by bea and 1 more", 1, 1),
    ),
    (
        "a mind changed",
        {},
        [Said("c1", "reject", "ann"), Said("c1", "approve", "ann")],
        ("pass", "approvals: 1 of 1", 1, 1),
    ),
    (
        "changed back",
        {},
        [Said("c1", "approve", "ann"), Said("c1", "reject", "ann")],
        ("fail", "rejected by ann", 0, 1),
    ),
    (
        "of an older comparison",
        {},
        [Said("c1", "approve", "ann", comparison="sha256:" + "0" * 64)],
        (OPEN, "awaiting review: 0 of 1 approvals", 0, 1),
    ),
    ("no keys are no keys", {"keys": []}, [Said("c1", "approve", "ann")], ("pass", "approvals: 1 of 1", 1, 1)),
    (
        "unsigned, or signed by a stranger",
        {"keys": [ANN, BEA]},
        [
            Said("c1", "approve", "ann"),
            Said("c1", "reject", "cid", CID),
            Said("c1", "approve", "ann", ANN, is_signed=False),
        ],
        (OPEN, "awaiting review: 0 of 1 approvals", 0, 1),
    ),
    (
        "one key under two names",
        {"keys": [ANN, BEA], "approvals": 2},
        [Said("c1", "approve", "ann", ANN), Said("c1", "approve", "anna", ANN)],
        (OPEN, "awaiting review: 1 of 2 approvals", 1, 2),
    ),
    (
        "two keys under one name",
        {"keys": [ANN, BEA], "approvals": 2},
        [Said("c1", "approve", "us", ANN), Said("c1", "approve", "us", BEA)],
        ("pass", "approvals: 2 of 2", 2, 2),
    ),
    (
        "a key withdraws",
        {"keys": [ANN, BEA]},
        [Said("c1", "approve", "ann", ANN), Said("c1", "reject", "ann", ANN)],
        ("fail", "rejected by ann", 0, 1),
    ),
]


@pytest.mark.parametrize(("options", "said", "expected"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_the_latest_counted_review_of_each_reviewer_stands(
    write: Write, read: Read, options: Options, said: list[Said], expected: tuple[str, str, float, float]
) -> None:
    write(with_reviews(asking(**options), said))
    assert verdict(read) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"approvals": 0},
        {"approvals": 1.5},
        {"approvals": -1},
        {"approvals": "many"},
        {"approvals": [1]},
        {"approvals": True},
        {"approvals": 1e300},
        {"keys": ANN},
        {"keys": {"ann": ANN}},
        {"keys": [ANN, "short"]},
        {"keys": [ANN.upper()]},
        {"keys": [ANN, None]},
        {"keys": [[ANN]]},
        {"keys": [ANN, BEA], "approvals": 3},
        {"keys": [ANN, ANN], "approvals": 2},
    ],
)
def test_options_that_are_not_understood_leave_it_open_whatever_is_said(
    write: Write, read: Read, options: Options
) -> None:
    write(with_reviews(asking(**options), [Said("c1", "approve", "ann", ANN), Said("c1", "reject", "bea", BEA)]))
    status, message, value, threshold = verdict(read)
    assert (status, value, threshold) == ("indeterminate", 0, None)
    assert message.startswith("an option is not understood: approvals is a whole number")
    assert read("select distinct is_awaited from review_standings") == [{"is_awaited": False}]


def expected_status(options: Options, said: list[Said]) -> tuple[str, int]:
    """Say the gate's rule in Python."""
    keys = options.get("keys") or []
    standing: dict[str, str] = {}
    for each in said:
        if each.candidate_id != "c1" or each.comparison is not None:
            continue
        if keys and not (each.is_signed and each.key in keys):
            continue
        standing[str(each.key) if keys else each.by] = each.verdict
    approvals = sum(each == "approve" for each in standing.values())
    if len(standing) > approvals:
        return "fail", approvals
    return "pass" if approvals >= options.get("approvals", 1) else "indeterminate", approvals


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    options=st.fixed_dictionaries(
        {}, optional={"approvals": st.integers(1, 2), "keys": st.sampled_from([[], [ANN, BEA], [BEA, CID]])}
    ),
    said=st.lists(
        st.builds(
            Said,
            candidate_id=st.sampled_from(["c1", "c1", "c2"]),
            verdict=st.sampled_from(["approve", "approve", "reject"]),
            by=st.sampled_from(["ann", "bea", "cid"]),
            key=st.sampled_from([None, ANN, BEA, CID]),
            comparison=st.sampled_from([None, None, "sha256:" + "0" * 64]),
            is_signed=st.sampled_from([True, True, False]),
        ),
        max_size=8,
    ),
)
def test_the_gate_says_what_the_rule_says(
    write: Write, read: Read, root: Path, options: Options, said: list[Said]
) -> None:
    for folder in root.glob("*/campaign=[!n]*"):
        shutil.rmtree(folder)
    write(with_reviews(asking(**options), said))
    status, _, value, _ = verdict(read)
    assert (status, value) == expected_status(options, said)
