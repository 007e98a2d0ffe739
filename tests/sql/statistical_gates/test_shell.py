"""Statistical verdicts in DuckDB's own shell, older than the library: the same of every generated campaign."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path
from random import Random

import duckdb
import pytest

from opfield.warehouse.contract import load_contract
from opfield.warehouse.install import open_sql
from opfield.warehouse.views import load_views
from tests.sql.build import at, rows, write_campaign, write_empty
from tests.sql.inferences.drawing import drawn

SHELL = shutil.which("duckdb", path=sysconfig.get_path("scripts")) or shutil.which("duckdb")
QUERY = (
    "select campaign_id, candidate_id, gate_ix, scope, look, line, method, low, high, p_above, p_below, problem "
    "from inferences order by campaign_id, candidate_id, gate_ix, scope, look, line"
)
STATUSES = "select campaign_id, candidate_id, gate_ix, status from gate_results order by all"


@pytest.mark.skipif(SHELL is None, reason="the duckdb-cli package is not installed")
def test_the_shell_infers_what_the_library_infers(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    root = write_empty(tmp_path / "warehouse")
    chance = Random("shell")
    for ix in range(12):
        write_campaign(views, root, drawn(chance, f"campaign {ix}"))
    (root / "open.sql").write_text(open_sql(load_views(), load_contract()), encoding="utf-8")
    at(views, root)
    for query in (QUERY, STATUSES):
        shell = subprocess.run(
            [str(SHELL), "-init", "open.sql", "-json", "-c", query],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        expected, found = rows(views, query), json.loads(shell.stdout)
        assert len(found) == len(expected) > 100
        for left, right in zip(found, expected, strict=True):
            for name, value in right.items():
                is_number = isinstance(value, float)
                assert left[name] == (pytest.approx(value, rel=1e-12, abs=1e-15) if is_number else value), (name, right)
