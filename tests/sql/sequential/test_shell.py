"""Looks and their verdicts in DuckDB's own shell, which is older than the library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import duckdb
import pytest

from opfield.warehouse.contract import load_contract
from opfield.warehouse.install import open_sql
from opfield.warehouse.views import load_views
from tests.sql.build import rows
from tests.sql.conftest import Read, Write
from tests.sql.sequential.looking import closing, gate
from tests.sql.sequential.test_deciding import UP
from tests.sql.sequential.test_deciding import campaign as looked_at
from tests.sql.sequential.test_e_process import campaign as bet_on
from tests.sql.test_shell import SHELL, in_order

NAMES = ("planned_cases", "looks", "inferences", "gate_sequential", "coverage", "broken_closings")


@pytest.mark.skipif(SHELL is None, reason="the duckdb-cli package is not installed")
def test_the_shell_gives_the_rows_that_the_library_gives(
    write: Write, read: Read, views: duckdb.DuckDBPyConnection, root: Path
) -> None:
    gates = [gate(looks=[4, 8, 12], spending="even"), gate(name="not whole", looks=[1.5])]
    write(looked_at(gates, UP, records=[closing(4)]))
    write(looked_at(gates, UP, name="closed at what no gate looks at", records=[closing(3)]))
    write(bet_on([0.4, 0.5] * 13, name="bets"))
    (root / "open.sql").write_text(open_sql(load_views(), load_contract()), encoding="utf-8")
    queries = {name: f"select '{name}' as relation, to_json(row)::varchar as row from {name} as row" for name in NAMES}
    shell = subprocess.run(
        [str(SHELL), "-init", "open.sql", "-no-stdin", "-jsonlines", "-c", ";".join(queries.values())],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    read("from campaigns")  # points the connection at the warehouse
    found = [json.loads(line) for line in shell.stdout.splitlines() if line]
    for name, query in queries.items():
        expected = in_order(json.loads(row["row"]) for row in rows(views, query))
        assert in_order(json.loads(row["row"]) for row in found if row["relation"] == name) == expected, name
        assert expected, name
