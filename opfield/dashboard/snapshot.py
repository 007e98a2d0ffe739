"""A snapshot: the parts of one reading, computed from one state of the files, and kept where no file can be reached."""

from __future__ import annotations

import glob
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.core import digest_hex
from opfield.dashboard.guard import connect_reading, shut
from opfield.dashboard.parts import names_asked, part_queries, table_of
from opfield.errors import WarehouseError
from opfield.warehouse.contract import TABLE_NAMES, column_names
from opfield.warehouse.install import install_some
from opfield.warehouse.layout import NO_CAMPAIGN, partition
from opfield.warehouse.snapshot import FEW_BYTES, KEPT_TABLES, kept_names
from opfield.warehouse.views import ViewSet, installed_views

Row = dict[str, Any]

#: A writer exchanges files while it seals: reading anew finds the new ones.
_RETRIES: Final = 4
_PAUSE_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Parts that stand in memory.

    Attributes:
        con: connection without a file system; each part is a table of its name.
        cost_s: how long reading them took, which says how often that is worth while.
    """

    con: duckdb.DuckDBPyConnection
    cost_s: float
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return a query's rows as dictionaries."""
        # Several pages may ask at once, and a connection answers one after the other.
        with self._lock:
            cursor = self.con.execute(query, list(parameters))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def close(self) -> None:
        """Let go of the memory."""
        with self._lock:
            self.con.close()


def take(
    root: Path,
    reading: str,
    campaigns: Collection[str] | None,
    asked: Mapping[str, str] | None = None,
    views: ViewSet | None = None,
) -> Snapshot:
    """Compute the parts of a reading.

    Args:
        root: warehouse folder.
        reading: one of `READINGS`.
        campaigns: ids of the campaigns whose files are read; all of them where None.
        asked: variables that the parts read with `getvariable`.
        views: relations to choose from; the installed ones where None.

    Raises:
        WarehouseError: where files cannot be read, or keep vanishing.
        OpfieldError: where the SQL that a campaign kept cannot answer.
    """
    chosen = views or installed_views()
    for attempt in range(_RETRIES):
        con = connect_reading(root)
        try:
            started = time.monotonic()
            _read(con, root, reading, campaigns, asked or {}, chosen)
            shut(con)
            return Snapshot(con, time.monotonic() - started)
        except (duckdb.Error, FileNotFoundError) as error:
            con.close()
            if attempt + 1 == _RETRIES:
                raise WarehouseError(str(error)) from error
            time.sleep(_PAUSE_S)
        except BaseException:
            con.close()
            raise
    raise AssertionError("unreachable")


def first_event_row(root: Path, campaign_id: str) -> Row | None:
    """Return the first event of a campaign as a row of the table `events`; None where it has none.

    Raises:
        WarehouseError: where its file cannot be read.
    """
    with connect_reading(root) as con:
        try:
            _install(con, root, [campaign_id], installed_views(), {"events"})
            cursor = con.execute("from events where sequence = 1")
            names = [column[0] for column in cursor.description or ()]
            row = cursor.fetchone()
        except (duckdb.Error, FileNotFoundError) as error:
            raise WarehouseError(str(error)) from error
    return None if row is None else dict(zip(names, row, strict=True))


def _read(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    reading: str,
    campaigns: Collection[str] | None,
    asked: Mapping[str, str],
    views: ViewSet,
) -> None:
    for name, value in asked.items():
        con.execute(f"set variable {name} = $1", [value])
    _install(con, root, campaigns, views, names_asked(reading))
    for name, sql in part_queries(reading).items():
        con.execute(f"create or replace table {table_of(name)} as {sql}")


def _install(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    campaigns: Collection[str] | None,
    views: ViewSet,
    names: Collection[str],
) -> None:
    """Create the tables and relations among these names, and all that they read, over the files that there are now."""
    wanted = views.closure(set(names) & set(views.named))
    tables = (set(names) & set(TABLE_NAMES)) | views.tables_read(wanted)
    con.execute("set variable root = $1", [glob.escape(str(root))])
    if campaigns is not None and len(campaigns) == 1:
        con.execute("set variable campaign = $1", [digest_hex(next(iter(campaigns)))])
    small = {table for table in sorted(tables) if _list_files(con, root, table, campaigns) <= FEW_BYTES}
    stored = kept_names(views, wanted, tables, small & KEPT_TABLES)
    columns = {table: listed for table, listed in column_names().items() if table in tables}
    install_some(con, views, columns, wanted, stored, is_listed=True)


def _list_files(con: duckdb.DuckDBPyConnection, root: Path, table: str, campaigns: Collection[str] | None) -> int:
    """Fix the files that a table is read from, so that all parts come from one state; return their bytes."""
    folders = ["campaign=*"] if campaigns is None else [partition(each) for each in campaigns]
    found = {path for folder in (NO_CAMPAIGN, *folders) for path in (root / table).glob(f"{folder}/*.parquet")}
    if not found:
        raise WarehouseError(f"{root / table} has no file any more; the next `opfield run` writes its zero-row file")
    sizes = {path: _size_of(path) for path in found}
    # The largest first: DuckDB guesses at the rows of all from the first, and one with no row would mislead its joins.
    largest_first = sorted(found, key=lambda path: (-sizes[path], path))
    con.execute(f"set variable {table}_files = $1", [[glob.escape(str(path)) for path in largest_first]])
    return sum(sizes.values()) if table in KEPT_TABLES else 0


def _size_of(path: Path) -> int:
    """Return the bytes of a file; one that is gone has none, and whoever reads it finds out."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
