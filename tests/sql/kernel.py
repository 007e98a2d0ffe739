"""One view over tables given by hand, so that many campaigns cost one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from opfield.warehouse.views import load_views
from tests.sql.build import rows

COLUMNS = {
    "case_deltas": "campaign_id varchar, candidate_id varchar, metric varchar, case_id varchar, "
    "baseline_mean double, candidate_mean double, mean_delta double",
    "cases": "campaign_id varchar, case_id varchar, cluster_id varchar, groups map(varchar, varchar)",
    "comparisons": "campaign_id varchar, candidate_id varchar, metric varchar, missing bigint, cases bigint, "
    "mean_delta double",
    "decisions": "campaign_id varchar, candidate_id varchar, label varchar, decision varchar, score double",
    "declarations": "campaign_id varchar, baseline_id varchar, preference varchar",
    "metrics": "campaign_id varchar, metric varchar, lower double, upper double",
    "pareto": "campaign_id varchar, candidate_id varchar, is_front boolean",
    "pareto_points": "campaign_id varchar, candidate_id varchar, " + ", ".join(f"m{ix} double" for ix in range(8)),
    "selection": "campaign_id varchar, selected_id varchar, outcome varchar",
    "judged_scopes": "campaign_id varchar, scope varchar",
}
"""What the views of a kernel read of each relation."""


def kernel(view: str, reads: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """Return a connection with every macro, an empty table for each relation in `reads`, and `view` over them."""
    con = duckdb.connect(config={"threads": 2})
    relations = load_views().relations
    for name in (*reads, "judged_scopes"):
        con.execute(f"create table {name} ({COLUMNS[name]})")
    for relation in relations.values():
        if relation.is_macro:
            con.execute(relation.sql)
    con.execute(f"create table t_quantiles as {relations['t_quantiles'].sql}")
    con.execute("create view planned_cases as select campaign_id, case_id from cases")
    con.execute(f"create view scope_cases as {relations['scope_cases'].sql}")
    con.execute(f"create view {view} as {relations[view].sql}")
    return con


def fill(con: duckdb.DuckDBPyConnection, tables: Mapping[str, Sequence[Sequence[Any]]]) -> None:
    """Let each table hold these rows and no others."""
    for name, given in tables.items():
        con.execute(f"delete from {name}")
        if given:
            columns = [pa.array(list(column)) for column in zip(*given, strict=True)]
            con.register("given", pa.table(columns, names=[f"c{ix}" for ix in range(len(columns))]))
            con.execute(f"insert into {name} select * from given")
            con.unregister("given")


def read_alike(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query, and demand the same bytes of one and of two threads."""
    con.execute("set threads = 1")
    alone = rows(con, query)
    con.execute("set threads = 2")
    found = rows(con, query)
    assert [list(map(repr, row.values())) for row in alone] == [list(map(repr, row.values())) for row in found]
    return found
