from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from opfield.dashboard import Address, Board
from opfield.dashboard.guard import connect_reading, shut
from opfield.dashboard.snapshot import Snapshot, take


def outside(root: Path) -> list[str]:
    """Statements that reach beyond the warehouse."""
    return [
        "from read_csv('/etc/passwd')",
        "select content from read_text('/etc/passwd')",
        f"from read_text('{_quoted(root)}/../secret.txt')",
        f"from read_text('{_quoted(root)}-twin/secret.txt')",
        "from glob('/etc/*')",
        "copy (select 1) to 'opfield-dashboard-must-not-write.csv'",
        "attach 'opfield-dashboard-must-not-write.db'",
        "export database 'opfield-dashboard-must-not-write'",
        "install httpfs",
        "load httpfs",
        "from read_parquet('https://example.org/x.parquet')",
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
    ]


def inside(root: Path) -> list[str]:
    """Statements that read or write the warehouse itself."""
    return [
        f"from read_parquet('{_quoted(root)}/cells/*/*.parquet')",
        f"from glob('{_quoted(root)}/*')",
        f"copy (select 1) to '{_quoted(root)}/cells/campaign=none/planted.parquet'",
        f"attach '{_quoted(root)}/planted.db'",
        f"export database '{_quoted(root)}/planted'",
        "set disabled_filesystems = ''",
        "reset disabled_filesystems",
        "set lock_configuration = false",
    ]


def _quoted(root: Path) -> str:
    return str(root).replace("'", "''")


def test_while_it_reads_a_connection_reaches_the_warehouse_alone(finished: Path) -> None:
    (finished.parent / "secret.txt").write_text("secret")
    twin = finished.with_name(f"{finished.name}-twin")
    twin.mkdir(exist_ok=True)
    (twin / "secret.txt").write_text("secret")
    with connect_reading(finished) as con:
        assert con.execute(inside(finished)[0]).fetchall()
        for statement in outside(finished):
            with pytest.raises(duckdb.Error):
                con.execute(statement)


def test_once_it_has_read_a_connection_reaches_no_file_at_all(finished: Path) -> None:
    before = sorted(finished.rglob("*"))
    snapshot = take(finished, "standing", None)
    for statement in (*inside(finished), *outside(finished)):
        with pytest.raises(duckdb.Error):
            snapshot.rows(statement)
    assert sorted(finished.rglob("*")) == before


def test_every_snapshot_that_the_board_keeps_is_shut(finished: Path) -> None:
    board = Board(finished, patience_s=60)
    for query in ({}, {"campaign": "small"}, {"campaign": "small", "case": "b"}):
        board.view(Address.of(query))
    kept = [board.listing._rows, *(each for _, each in board._snapshots.values())]
    kept += [each.snapshot for each in board._verdicts.values()]
    asked = [each for each in kept if isinstance(each, Snapshot)]
    assert asked
    for snapshot in asked:
        with pytest.raises(duckdb.Error, match="disabled by configuration"):
            snapshot.rows(inside(finished)[0])


def test_variables_of_the_process_are_no_tables(finished: Path) -> None:
    import pyarrow as pa

    planted = pa.table({"secret": [1]})
    with connect_reading(finished) as con:
        with pytest.raises(duckdb.CatalogException):
            con.execute("from planted")
        shut(con)
        with pytest.raises(duckdb.CatalogException):
            con.execute("from planted")
    assert planted.num_rows == 1


def test_a_campaigns_own_sql_cannot_read_beyond_the_warehouse(finished: Path) -> None:
    # A campaign keeps the SQL that judges it; somebody else may have written it.
    with connect_reading(finished) as con, pytest.raises(duckdb.PermissionException):
        con.execute("create table decisions as select content from read_text('/etc/passwd')")
