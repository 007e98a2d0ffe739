"""The tables of the run-binding boundary as DuckDB reads them: files of no campaign, in a folder of their own.

A warehouse that an older opfield made has no such folder; its tables read as empty there.
"""

from __future__ import annotations

import glob
from collections.abc import Collection
from pathlib import Path

import duckdb

from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TableContract, load_practice_contract
from opfield.warehouse.layout import PRACTICE, practice_folder


def live_query(table: TableContract) -> str:
    """Return the SELECT of a table's rows from the files that its folder has when the query runs."""
    return _query(table, f"coalesce(getvariable('root'), '.') || '/{PRACTICE}/{table.name}/*.parquet'")


def empty_query(table: TableContract) -> str:
    """Return the SELECT of no row with the columns of a table."""
    columns = ", ".join(f"null::{column.type} as {column.name}" for column in table.columns)
    return f"select {columns} where false"


def table_queries(
    con: duckdb.DuckDBPyConnection, root: Path, names: Collection[str], *, is_listed: bool
) -> dict[str, str]:
    """Return the SELECT of each of these tables that is one of the boundary's; others are left out.

    Args:
        con: connection whose variable `root` names the warehouse.
        root: the warehouse.
        names: names of tables and other relations.
        is_listed: whether to read the files that stand now, rather than those that stand when the query runs.
    """
    wanted = [name for name in PRACTICE_TABLE_NAMES if name in names]
    if is_listed or not wanted:
        return listed_queries(root, wanted) if wanted else {}
    absent, contract = absent_tables(con), load_practice_contract()
    return {name: empty_query(contract[name]) if name in absent else live_query(contract[name]) for name in wanted}


def listed_queries(root: Path, names: Collection[str]) -> dict[str, str]:
    """Return the SELECT of each of these tables from the files that stand now, in the order of the tables.

    The files of a table are listed before those of the tables that its rows speak of, so that a landing in between does
    not make a row speak of what cannot be found.
    """
    contract = load_practice_contract()
    files = {name: sorted(practice_folder(root, name).glob("*.parquet")) for name in reversed(PRACTICE_TABLE_NAMES)}
    return {
        name: _query(contract[name], file_list(files[name])) if files[name] else empty_query(contract[name])
        for name in PRACTICE_TABLE_NAMES
        if name in names
    }


def absent_tables(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the tables of which the warehouse that the connection's variable `root` names has no file."""
    pattern = f"coalesce(getvariable('root'), '.') || '/{PRACTICE}/' || $1 || '/*.parquet'"
    counted = f"select count(*) from glob({pattern})"
    return frozenset(name for name in PRACTICE_TABLE_NAMES if con.execute(counted, [name]).fetchall() == [(0,)])


def file_list(files: Collection[Path]) -> str:
    """Return files as a list in SQL, their names taken literally."""
    quoted = (glob.escape(str(path)).replace("'", "''") for path in files)
    return "[" + ", ".join(f"'{each}'" for each in quoted) + "]"


def _query(table: TableContract, files: str) -> str:
    columns = ", ".join(column.name for column in table.columns)
    return f"select {columns}\nfrom read_parquet({files}, hive_partitioning = false)"
