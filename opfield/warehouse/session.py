"""Reading a warehouse: DuckDB with every table and view, polars frames, and nothing that writes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl

from opfield.core import digest_hex
from opfield.errors import OpfieldError, UnknownNameError, WarehouseError, unknown_name
from opfield.warehouse.contract import TABLE_NAMES, load_contract
from opfield.warehouse.store import default_root, open_store
from opfield.warehouse.views import ViewSet, install, load_views

#: A file that vanishes under a reader means that a seal took a step: reading again finds the new files.
_RETRIES: Final = 5
_PAUSE_S: Final = 0.2


def connect(
    root: Path, campaign_id: str | None = None, views: ViewSet | None = None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory connection in which all tables and views of the warehouse stand.

    Args:
        root: warehouse folder.
        campaign_id: restricts every table to this campaign; one campaign must not pay for a thousand others.
        views: relations to install; the installed ones where None.
        threads: number of DuckDB threads; its default where None.
    """
    con = duckdb.connect()
    if threads is not None:
        con.execute(f"set threads = {int(threads)}")
    con.execute("set variable root = $1", [str(root)])
    if campaign_id is not None:
        con.execute("set variable campaign = $1", [digest_hex(campaign_id)])
    install(con, views or load_views(), load_contract())
    return con


def read_rows(con: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return a query's rows as dictionaries, reading again where a file vanished under the reader.

    Raises:
        WarehouseError: where files keep vanishing or cannot be read.
        OpfieldError: where the query is wrong; the message is DuckDB's.
    """
    for attempt in range(_RETRIES):
        try:
            cursor = con.execute(query, list(parameters))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except (duckdb.IOException, duckdb.HTTPException, duckdb.InvalidInputException) as error:
            if attempt + 1 == _RETRIES:
                raise WarehouseError(
                    f"the warehouse cannot be read: {error}; `opfield audit` says which file is damaged"
                ) from error
            time.sleep(_PAUSE_S)
        except duckdb.Error as error:
            raise OpfieldError(str(error)) from error
    raise AssertionError("unreachable")


@dataclass(slots=True)
class Warehouse:
    """A warehouse opened for reading.

    Attributes:
        root: the folder.
    """

    root: Path
    _con: duckdb.DuckDBPyConnection | None = field(default=None, repr=False)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection behind `sql`, opened when first used."""
        if self._con is None:
            self._con = connect(self.root)
        return self._con

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Return a query as a DuckDB relation: `.pl()`, `.arrow()`, `.df()`, `.fetchall()` or print it.

        Raises:
            duckdb.Error: where the query is wrong.
        """
        return self.connection.sql(query)

    def scan(self, relation: str) -> pl.LazyFrame:
        """Return a table or view as a polars LazyFrame; a table is scanned from its files.

        Raises:
            UnknownNameError: listing the known relations.
        """
        if relation in TABLE_NAMES:
            pattern = str(self.root / relation / "*" / "*.parquet")
            return pl.scan_parquet(pattern, hive_partitioning=False)
        known = [row["view_name"] for row in read_rows(self.connection, _VIEW_NAMES)]
        if relation not in known:
            raise unknown_name("relation", relation, known)
        return self.connection.sql(f"from {relation}").pl().lazy()

    def campaign_id(self, reference: str | None = None) -> str:
        """Return the campaign that a reference means: an id, the beginning of one, or a name; the latest one where None.

        Raises:
            UnknownNameError: where none or several fit.
        """
        rows = read_rows(self.connection, "select campaign_id, name from campaigns order by started_at desc, campaign_id")
        if not rows:
            raise UnknownNameError(f"{self.root} holds no campaign yet; `opfield run quadratic` makes one")
        if reference is None:
            return str(rows[0]["campaign_id"])
        bare = reference.removeprefix("sha256:")
        fits = [row for row in rows if row["campaign_id"].removeprefix("sha256:").startswith(bare) and bare]
        fits = fits or [row for row in rows if row["name"] == reference]
        if len(fits) == 1:
            return str(fits[0]["campaign_id"])
        listed = ", ".join(f"{row['campaign_id'][7:19]} ({row['name']})" for row in (fits or rows)[:12])
        problem = "several campaigns fit" if fits else "unknown campaign"
        raise UnknownNameError(f"{problem} {reference!r}; known: {listed}")


_VIEW_NAMES: Final = "select view_name from duckdb_views() where not internal order by view_name"


def open_warehouse(root: Path | str | None = None) -> Warehouse:
    """Open a warehouse for reading.

    Args:
        root: the folder; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.

    Raises:
        WarehouseError: where it is no warehouse, or one of a newer format.
    """
    return Warehouse(open_store(Path(root) if root is not None else default_root()).root)
