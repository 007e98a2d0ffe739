"""Generated campaigns: the budget gate equals its plain-Python twin, in the library and in DuckDB's own shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from opfield.warehouse.contract import load_contract
from opfield.warehouse.install import open_sql
from opfield.warehouse.views import load_views
from tests.sql.build import Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.gate_budget.charging import PARTS, Spending, verdict

SHELL = shutil.which("duckdb", path=sysconfig.get_path("scripts")) or shutil.which("duckdb")
QUERY = (
    "select campaign_id, candidate_id, gate_ix, scope, status, message, value, threshold from gate_budget order by all"
)
STATUSES = ("success", "success", "success", "domain_failure", "infrastructure_failure", "cancelled")

# Eighths and whole numbers: every sum of them is exact, so that a bound can be met to the last bit.
amounts = st.one_of(*[st.integers(0, 16).map(lambda eighths: eighths / 8)] * 9, st.none())
counts = st.one_of(*[st.integers(0, 9)] * 9, st.none())


@st.composite
def campaigns(draw: st.DrawFn) -> Spending:
    """Draw a campaign with unknown amounts, failures, retries, pending coordinates, and up to eight budgets."""
    cases = {
        f"w{ix}": draw(st.sampled_from([{"role": "x"}, {"role": "y"}, {}])) for ix in range(draw(st.integers(1, 4)))
    }
    candidates = [f"c{ix}" for ix in range(draw(st.integers(1, 2)))]
    repeats = draw(st.integers(1, 2))
    grid = [(who, case, repeat) for who in ("base", *candidates) for case in cases for repeat in range(repeats)]
    is_tidy = draw(st.booleans())
    known, counted = (amounts, counts) if not is_tidy else (st.sampled_from([0.0, 0.125, 2.0]), st.integers(0, 9))
    is_left_out = st.sampled_from([False] * 9 + [True])
    trials = [
        Trial(*place, {}, draw(st.sampled_from(STATUSES)), "x", draw(known), draw(counted), draw(counted), draw(known))
        for place in draw(st.permutations(grid))
        if is_tidy or not draw(is_left_out)
    ]
    attempts = {} if is_tidy else {place: draw(st.sampled_from([1, 1, 1, 2])) for place in grid}
    plain = Spending(cases=cases, metrics=[Metric("m")], trials=trials, candidates=candidates, repeats=repeats)
    gates = [
        {"kind": "budget", "name": f"g{ix}", "options": draw(budgets(replace(plain, attempts=attempts)))}
        for ix in range(draw(st.integers(1, 8)))
    ]
    return replace(plain, attempts=attempts, gates=gates)


@st.composite
def budgets(draw: st.DrawFn, campaign: Spending) -> dict[str, Any]:
    """Draw options, every other bound exactly at what is known to be spent or just beside it."""
    options: dict[str, Any] = {"of": draw(st.sampled_from(list(PARTS))), "at_most": draw(st.integers(0, 40))}
    for name, values in (("over", ["candidate", "campaign"]), ("within", [{"role": "x"}, "role", {"role": "z"}])):
        value = draw(st.sampled_from([None, *values]))
        options |= {} if value is None else {name: value}
    if draw(st.booleans()):
        spent = verdict(campaign, "c0", options, set(campaign.cases))[1] or 0
        options["at_most"] = max(0, spent + draw(st.sampled_from([-0.125, 0, 0.125])))
    return options


def scopes_of(campaign: Spending, within: Any) -> dict[str, set[str]]:
    """Return the cases of each scope that a gate judges over."""
    if within is None:
        return {"": set(campaign.cases)}
    wanted = [within] if isinstance(within, dict) else [{within: each.get(within)} for each in campaign.cases.values()]
    return {
        json.dumps(each, separators=(",", ":")): {
            case
            for case, groups in campaign.cases.items()
            if all(value is not None and groups.get(key) == value for key, value in each.items())
        }
        for each in wanted
    }


def expected(campaign: Spending) -> dict[tuple[str, int, str], tuple[str, Any, int]]:
    return {
        (candidate, ix, scope): verdict(campaign, candidate, gate["options"], cases)
        for candidate in campaign.candidates
        for ix, gate in enumerate(campaign.gates)
        for scope, cases in scopes_of(campaign, gate["options"].get("within")).items()
    }


def numbers_in(message: str) -> int:
    """Return the unknown cells and the pending coordinates that a message counts."""
    return sum(int(part.rpartition(": ")[2]) for part in message.split("; ")[1:])


def compare(campaign: Spending, found: list[dict[str, Any]]) -> None:
    wanted = expected(campaign)
    told = {(row["candidate_id"], row["gate_ix"], row["scope"]): row for row in found}
    assert len(found) == len(told)
    assert told.keys() == wanted.keys()
    for place, (status, value, unknown) in wanted.items():
        row = told[place]
        assert (row["status"], row["value"], numbers_in(row["message"])) == (status, value, unknown), place


@given(drawn=st.lists(campaigns(), min_size=3, max_size=5))
@settings(
    max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
def test_the_gate_equals_its_twin(views: duckdb.DuckDBPyConnection, tmp_path: Path, drawn: list[Spending]) -> None:
    folder = tmp_path / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    write_empty(folder)
    written = {}
    for ix, campaign in enumerate(drawn):
        named = replace(campaign, name=f"campaign {ix}")
        written[write_campaign(views, folder, named, segment_events=20)] = named
    at(views, folder)
    views.execute("set threads = 1")
    alone = rows(views, QUERY)
    views.execute("set threads = 2")
    found = rows(views, QUERY)
    assert list(map(repr, alone)) == list(map(repr, found))
    for campaign_id, campaign in written.items():
        compare(campaign, [row for row in found if row["campaign_id"] == campaign_id])


@pytest.mark.skipif(SHELL is None, reason="the duckdb-cli package is not installed")
def test_the_shell_gives_the_rows_that_the_library_gives(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    root = write_empty(tmp_path / "warehouse")
    trials = [
        Trial(who, case, 0, {}, cost_usd=0.25, input_tokens=3, output_tokens=None if who == "c2" else 2, duration_s=0.5)
        for who in ("base", "c1", "c2")
        for case in "ab"
    ]
    gates = [
        {"kind": "budget", "options": {"of": of, "at_most": 2, "over": over}}
        for of in PARTS
        for over in ("candidate", "campaign")
    ]
    campaign = Spending(
        cases={"a": {}, "b": {}}, metrics=[Metric("m")], trials=trials, candidates=("c1", "c2"), gates=gates
    )
    write_campaign(views, root, campaign)
    (root / "open.sql").write_text(open_sql(load_views(), load_contract()), encoding="utf-8")
    shell = subprocess.run(
        [str(SHELL), "-init", "open.sql", "-no-stdin", "-jsonlines", "-c", QUERY],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [json.loads(line) for line in shell.stdout.splitlines() if line]
    assert found == rows(at(views, root), QUERY)
    compare(campaign, found)
