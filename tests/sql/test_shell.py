"""The views in DuckDB's own shell, older than the library: from the warehouse folder, without Python."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.warehouse.contract import load_contract
from opfield.warehouse.install import open_sql
from opfield.warehouse.views import load_views
from tests.practice.landed import at, land
from tests.practice.records import run
from tests.sql.build import Campaign, Metric, Trial, rows
from tests.sql.conftest import Read, Write
from tests.sql.reviewing import Said, with_reviews

#: Relations that hold what is wrong or still to do, or what only passing candidates have, and are empty here.
EMPTY = (
    "stated_figures",
    "stated_repeats",
    "independent_repeats",
    "independent_cells",
    "partial_pairs",
    "arm_spreads",
    "case_noise",
    "contenders",
    "pareto",
    "pareto_noise",
    "pareto_points",
    "shrinkage",
    "pending",
    "duplicates",
    "violations",
    "broken_closings",
    "broken_evidence",
    "broken_reviews",
    "broken_memberships",
    "candidate_bindings",
    "derivations",
    "divergences",
    "awaiting_reviews",
)

SHELL = shutil.which("duckdb", path=sysconfig.get_path("scripts")) or shutil.which("duckdb")


def evidence(gate_ix: int, name: str, **members: Any) -> tuple[str, dict[str, Any]]:
    results = [{"candidate_id": who, "measure": "quantile", **members} for who in ("c1", "c2")]
    return "evidence.recorded", {"gate_ix": gate_ix, "name": name, "results": results}


JUDGED = Campaign(
    cases={name: {"half": "first" if name < "c" else "second"} for name in "abcd"},
    metrics=[Metric("gain", 1, 0, 1, on_domain_failure="worst"), Metric("loss", -1, 0)],
    candidates=["c1", "c2"],
    repeats=2,
    gates=[
        {"kind": "failures", "options": {"max": 1}},
        {"kind": "mean_delta", "metric": "gain", "threshold": -1.0},
        {"kind": "worst_delta", "metric": "gain", "threshold": -2.0},
        {"kind": "candidate_mean", "metric": "loss", "options": {"at_most": 9}},
        {"kind": "coverage"},
        {"kind": "budget", "options": {"at_most": 100}},
        {"kind": "superiority", "metric": "gain", "options": {"method": "bounded"}},
        {"kind": "noninferiority", "metric": "gain", "threshold": 0.5, "options": {"min_cases": 2, "within": "half"}},
        {"kind": "equivalence", "metric": "gain", "threshold": 0.5, "options": {"min_cases": 2}},
        {"kind": "harm", "metric": "loss"},
        {"kind": "binary_superiority", "metric": "gain"},
        {"kind": "binary_noninferiority", "metric": "gain", "threshold": 0.5},
        {"kind": "reliability", "metric": "gain", "threshold": 0.5, "options": {"k": 2}},
        {"kind": "resource_ratio", "threshold": 2.0, "options": {"of": "cost_usd"}},
        {"kind": "sequential", "metric": "gain", "options": {"looks": [2, 4], "min_cases": 2}},
        {"kind": "percentile", "options": {"of": "cost_usd", "at_most": 9}},
        {"kind": "family", "metric": "gain", "threshold": -3.0, "options": {"method": "max_t", "min_cases": 2}},
        {"kind": "review", "options": {"approvals": 2}},
    ],
    records=[evidence(5, "percentile", high=1.0), evidence(6, "family", p_value=0.001)],
    specs={"c1": {"k": 1}, "c2": {"k": 2}},
    preference="gain",
    trials=[
        Trial(
            who,
            case,
            repeat,
            {"gain": (ix * 7 + repeat * 3 + len(who) + ord(who[-1])) % 11 / 10, "loss": ix / 3},
            status="domain_failure" if (who, case, repeat) == ("c1", "b", 1) else "success",
            cost_usd=0.1 * ix,
        )
        for who in ("base", "c1", "c2")
        for ix, case in enumerate("abcd")
        for repeat in range(2)
    ],
)


@pytest.mark.skipif(SHELL is None, reason="the duckdb-cli package is not installed")
def test_the_shell_gives_the_rows_that_the_library_gives(
    write: Write, read: Read, views: duckdb.DuckDBPyConnection, root: Path
) -> None:
    write(with_reviews(JUDGED, [Said("c2", "approve", by) for by in ("ann", "bea")]), segment_events=9)
    holding = run()
    land(root, holding, at(holding, 1), at(holding, 9), admit=True)
    land(root, at(holding, 2))
    (root / "open.sql").write_text(open_sql(load_views(), load_contract()), encoding="utf-8")
    names = [name for name, each in load_views().relations.items() if not each.is_macro]
    queries = {name: f"select '{name}' as relation, to_json(row)::varchar as row from {name} as row" for name in names}
    shell = subprocess.run(
        [str(SHELL), "-init", "open.sql", "-no-stdin", "-jsonlines", "-c", ";".join(queries.values())],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    read("from campaigns")  # points the connection at the warehouse
    found = [json.loads(line) for line in shell.stdout.splitlines() if line]
    for name, query in queries.items():
        expected = in_order(json.loads(row["row"]) for row in rows(views, query))
        assert in_order(json.loads(row["row"]) for row in found if row["relation"] == name) == expected, name
        assert expected or name in EMPTY, name


def in_order(told: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in one order, numbers to 12 digits: the fsum of the shell rounds a last bit otherwise."""
    rounded = ({name: _rounded(value) for name, value in row.items()} for row in told)
    return sorted(rounded, key=json.dumps)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.12g}") + 0.0 if isinstance(value, float) else value
