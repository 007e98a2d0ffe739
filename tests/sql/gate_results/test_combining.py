"""How the verdicts of one gate in several scopes become one, told by a gate kind that says what its options list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.warehouse.contract import column_names
from opfield.warehouse.install import install_some
from opfield.warehouse.views import load_views
from tests.sql.build import Campaign, at, rows, write_campaign, write_empty

TOLD = """-- Gate kind told: the verdicts that its option `verdicts` lists.
-- takes: verdicts, within
with listed as (
    select
        policy_gates.campaign_id,
        declared_candidates.candidate_id,
        policy_gates.gate_ix,
        unnest(from_json(
            json_extract(policy_gates.options, '$.verdicts'),
            '[{"scope": "VARCHAR", "status": "VARCHAR", "value": "DOUBLE"}]'
        )) as verdict,
    from policy_gates
    inner join declared_candidates using (campaign_id)
    where policy_gates.kind = 'told'
)

select
    campaign_id,
    candidate_id,
    gate_ix,
    verdict.scope,
    verdict.status,
    format('told {}', verdict.value) as message,
    verdict.value,
    1.5::double as threshold,
from listed
"""
INVALID = "gate kind told gave not one verdict of the three in each scope"
NONE = "gate kind told gave no verdict: the kind or the metric is unknown here"


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("gates")
    (folder / "gate_told.sql").write_text(TOLD)
    views = load_views([folder]).restricted(["told"])
    con = at(duckdb.connect(config={"threads": 2}), write_empty(tmp_path_factory.mktemp("empty")))
    install_some(con, views, column_names(), views.closure(["gate_results"]))
    yield con
    con.close()


def told(within: Any, verdicts: Any, cases: Any = None) -> Campaign:
    """Return a campaign with one gate that tells these (scope, status, value), over cases in the groups k = x and y."""
    listed = [dict(zip(("scope", "status", "value"), each, strict=True)) for each in verdicts]
    options = {"verdicts": listed} | ({} if within is None else {"within": within})
    gates = [{"kind": "told", "options": options}]
    return Campaign(cases=cases or {"a": {"k": "x"}, "b": {"k": "y"}}, metrics=[], gates=gates)


def combined(con: duckdb.DuckDBPyConnection, root: Path, *campaigns: Campaign) -> list[Any]:
    """Return status, message, value and threshold of the gate of each campaign."""
    names = [write_campaign(con, root, replace(each, name=f"{ix}")) for ix, each in enumerate(campaigns)]
    found = {row.pop("campaign_id"): tuple(row.values()) for row in rows(at(con, root), GATES)}
    return [found[name] for name in names]


GATES = "select campaign_id, status, message, value, threshold from gate_results"
X, Y = '{"k":"x"}', '{"k":"y"}'
WORDS = {X: "k = x", Y: "k = y"}


def test_a_gate_passes_in_all_scopes_or_fails_in_one(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    table = [
        ("pass", "pass", "pass", X),
        ("pass", "fail", "fail", Y),
        ("fail", "pass", "fail", X),
        ("fail", "fail", "fail", X),
        ("indeterminate", "fail", "fail", Y),
        ("fail", "indeterminate", "fail", X),
        ("pass", "indeterminate", "indeterminate", Y),
        ("indeterminate", "pass", "indeterminate", X),
        ("indeterminate", "indeterminate", "indeterminate", X),
    ]
    expected = [
        (
            status,
            f"in each of 2 scopes; in {WORDS[deciding]}: told {value}"
            if status == "pass"
            else f"in {WORDS[deciding]}, which decides of 2: told {value}",
            value,
            1.5,
        )
        for _, _, status, deciding in table
        for value in [1.0 if deciding == X else 2.0]
    ]
    pairs = [[(X, first, 1.0), (Y, second, 2.0)] for first, second, _, _ in table]
    assert combined(telling, root, *(told("k", pair) for pair in pairs)) == expected
    assert combined(telling, root, *(told("k", pair[::-1]) for pair in pairs)) == expected


def test_a_missing_scope_leaves_the_verdict_open(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    asked = [told("k", [(X, status, 1.0)]) for status in ("pass", "fail", "indeterminate")]
    assert combined(telling, root, *asked) == [("indeterminate", INVALID, None, None)] * 3


@pytest.mark.parametrize("status", ["perhaps", "PASS", "", None])
def test_a_status_that_is_none_of_the_three_leaves_the_verdict_open(
    telling: duckdb.DuckDBPyConnection, root: Path, status: Any
) -> None:
    asked = [
        told("k", [(X, "pass", 1.0), (Y, status, 2.0)]),
        told("k", [(X, "fail", 1.0), (Y, status, 2.0)]),
        told(None, [("", status, 2.0)]),
    ]
    assert combined(telling, root, *asked) == [("indeterminate", INVALID, None, None)] * 3


def test_two_verdicts_in_one_scope_leave_it_open(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    asked = told("k", [(X, "pass", 1.0), (X, "pass", 1.0), (Y, "pass", 2.0)])
    assert combined(telling, root, asked) == [("indeterminate", INVALID, None, None)]


def test_a_verdict_in_a_scope_that_was_not_asked_is_none(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    asked = [
        told(None, [(X, "pass", 1.0)]),
        told("k", [("", "pass", 1.0)]),
        told({"k": "x"}, [(X, "pass", 1.0), (Y, "fail", 2.0)]),
    ]
    assert combined(telling, root, *asked) == [
        ("indeterminate", NONE, None, None),
        ("indeterminate", NONE, None, None),
        ("pass", f"in {WORDS[X]}: told 1.0", 1.0, 1.5),
    ]


def test_one_scope_is_named_and_all_cases_are_not(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    assert combined(telling, root, told({"k": "y"}, [(Y, "fail", 2.0)]), told(None, [("", "pass", 1.0)])) == [
        ("fail", f"in {WORDS[Y]}: told 2.0", 2.0, 1.5),
        ("pass", "told 1.0", 1.0, 1.5),
    ]


def test_cases_without_the_key_are_a_scope_that_must_be_judged(telling: duckdb.DuckDBPyConnection, root: Path) -> None:
    cases: dict[str, Any] = {"a": {"k": "x"}, "b": {}}
    verdicts = [('{"k":null}', "indeterminate", 0.0), (X, "pass", 1.0)]
    assert combined(telling, root, told("k", verdicts, cases), told("k", verdicts[1:], cases)) == [
        ("indeterminate", "in k = (none), which decides of 2: told 0.0", 0.0, 1.5),
        ("indeterminate", INVALID, None, None),
    ]
