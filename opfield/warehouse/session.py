"""Reading a warehouse: DuckDB with every table and view, polars frames, and nothing that writes."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from opfield.core import parse_json
from opfield.errors import OpfieldError, UnknownNameError, unknown_name
from opfield.warehouse.contract import (
    PRACTICE_TABLE_NAMES,
    TABLE_NAMES,
    column_names,
    load_contract,
)
from opfield.warehouse.install import install, install_some
from opfield.warehouse.ledger import Event, read_events, segments
from opfield.warehouse.memory import connect_memory, connect_own
from opfield.warehouse.practice_tables import table_queries
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.reading import is_about_files, read_again
from opfield.warehouse.snapshot import Snapshot, connected, kept_names, list_files
from opfield.warehouse.sql_text import names_read
from opfield.warehouse.store import default_root, open_store
from opfield.warehouse.views import TABLES, VERDICTS, ViewSet, installed_views

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import polars as pl

    from opfield.warehouse.notebook import Shown


def connect(root: Path, campaign_id: str | None = None, views: ViewSet | None = None) -> duckdb.DuckDBPyConnection:
    """Return an in-memory connection in which all tables and views of the warehouse stand.

    Args:
        root: warehouse folder.
        campaign_id: restricts every table to this campaign; one campaign must not pay for a thousand others.
        views: relations to install; the installed ones where None.
    """
    con = connected(duckdb.connect(), root, campaign_id)
    install(con, views or installed_views(), load_contract())
    return con


def connect_snapshot(
    root: Path,
    campaign_id: str,
    names: Iterable[str],
    views: ViewSet | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return the connection of what `take_snapshot` gives."""
    return take_snapshot(root, campaign_id, names, views).con


def take_snapshot(
    root: Path,
    campaign_id: str,
    names: Iterable[str],
    views: ViewSet | None = None,
) -> Snapshot:
    """Return one campaign as one state of its files has it, reading again where one vanished.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        names: relations that will be asked for; those that the views lack are left out.
        views: relations to choose from; the installed ones where None.

    Raises:
        WarehouseError: where files keep vanishing or cannot be read.
    """
    chosen = views or installed_views()
    wanted = list(names)

    def take_once() -> Snapshot:
        snapshot = Snapshot(connected(connect_own(), root, campaign_id), root, campaign_id, chosen)
        try:
            snapshot.list_files()
            snapshot.ask(wanted)
        except BaseException:
            snapshot.con.close()
            raise
        return snapshot

    return read_again(take_once)


def read_rows(
    con: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[dict[str, Any]]:
    """Return a query's rows as dictionaries, reading again where a file vanished under the reader.

    Raises:
        WarehouseError: where files keep vanishing or cannot be read.
        OpfieldError: where the query is wrong; the message is DuckDB's.
    """
    return read_again(lambda: _rows(con, query, parameters))


def _rows(
    con: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[dict[str, Any]]:
    cursor = con.execute(query, dict(parameters) if isinstance(parameters, Mapping) else list(parameters))
    if cursor is None:
        raise OpfieldError("the query is empty; say what to read, such as `from decisions`")
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@dataclass(slots=True)
class Warehouse:
    """A warehouse opened for reading.

    Attributes:
        root: the folder.
        is_snapshot: compute each view that many others read once, when first asked for: faster, for one look.
        only: campaign that every table is restricted to; None for all of them.
    """

    root: Path
    is_snapshot: bool = False
    only: str | None = None
    _con: duckdb.DuckDBPyConnection | None = field(default=None, init=False, repr=False)
    _installed: set[str] = field(default_factory=set, init=False, repr=False)
    _small: set[str] = field(default_factory=set, init=False, repr=False)

    def connection(self, query: str | None = None) -> duckdb.DuckDBPyConnection:
        """Return the connection, with the views that a query reads; with all of them where none is given."""
        views = installed_views()
        is_new = self._con is None
        if self._con is None:
            self._con = connected(connect_own(), self.root, self.only)
            if self.is_snapshot:
                self._small = list_files(self._con, self.root, self.only)
        wanted = set(views.named) if query is None else _relations_read(views, query)
        if not self.is_snapshot and wanted - self._installed == set(views.named):
            install(self._con, views, load_contract())
            self._installed |= wanted | TABLES
            return self._con
        if query is not None and self.is_snapshot and VERDICTS in wanted - self._installed:
            views = self._in_use(self._con, views, query)
            wanted = _relations_read(views, query)
        practice = {name for name in PRACTICE_TABLE_NAMES if query is None or name in query}
        if is_new or (wanted | practice) - self._installed:
            self._install(self._con, views, wanted, practice)
        return self._con

    def _install(
        self, con: duckdb.DuckDBPyConnection, views: ViewSet, wanted: set[str], practice: Collection[str] = ()
    ) -> None:
        stored = kept_names(views, wanted, views.tables_read(wanted), self._small) if self.is_snapshot else ()
        columns = {table: listed for table, listed in column_names().items() if table not in self._installed}
        missing = ({*practice} | views.tables_read(wanted)) - self._installed
        queries = table_queries(con, self.root, missing, is_listed=self.is_snapshot)
        install_some(con, views, columns, wanted - self._installed, stored, queries, is_listed=self.is_snapshot)
        self._installed |= wanted | columns.keys() | queries.keys()

    def _in_use(self, con: duckdb.DuckDBPyConnection, views: ViewSet, query: str) -> ViewSet:
        """Return the views with the gate kinds that a policy here or the query names; others would find no gate."""
        self._install(con, views, set(views.closure(["policy_gates"])))
        rows = con.execute("select distinct kind from policy_gates").fetchall()
        named = {kind for kind in views.gate_kinds if f"gate_{kind}" in query}
        return views.restricted(({kind for (kind,) in rows} & set(views.gate_kinds)) | named)

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Return a query as a DuckDB relation: `.pl()`, `.arrow()`, `.df()`, `.fetchall()` or print it.

        Raises:
            duckdb.Error: where the query is wrong.
        """
        return self.connection(query).sql(query)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return a query's rows as dictionaries; `?` in the query stands for the parameters.

        Raises:
            OpfieldError: where the query is wrong or files cannot be read.
        """

        def read() -> list[dict[str, Any]]:
            try:
                return _rows(self.connection(query), query, parameters)
            except duckdb.Error as error:
                if is_about_files(error):
                    # A file is not what it was when the snapshot was taken: the next attempt takes another one.
                    self._con = None
                    self._installed.clear()
                raise

        return read_again(read)

    def scan(self, relation: str) -> pl.LazyFrame:
        """Return a table or view as a polars LazyFrame; a table is scanned from its files.

        Raises:
            UnknownNameError: listing the known relations.
        """
        import polars as pl

        if relation in TABLE_NAMES:
            pattern = str(self.root / relation / "*" / "*.parquet")
            return pl.scan_parquet(pattern, hive_partitioning=False)
        known = [each.name for each in installed_views().named.values() if not each.is_macro]
        if relation not in (*PRACTICE_TABLE_NAMES, *known):
            raise unknown_name("relation", relation, (*TABLE_NAMES, *PRACTICE_TABLE_NAMES, *known))
        frame: pl.DataFrame = self.sql(f"from {relation}").pl()
        return frame.lazy()

    def show(self, relation: str) -> Shown:
        """Return a table or view, or a query, to look at in a notebook: its first rows and how many there are."""
        from opfield.warehouse.notebook import shown

        return shown(self, relation)

    def _repr_html_(self) -> str:
        from opfield.warehouse.notebook import campaigns_html

        return campaigns_html(self)

    def campaign_id(self, reference: str | None = None) -> str:
        """Return the campaign that is meant by an id, the beginning of one, or a name; the latest one where None.

        Raises:
            UnknownNameError: where none or several fit.
        """
        rows = self._campaigns()
        if not rows:
            raise UnknownNameError(f"{self.root} holds no campaign yet; `opfield run quadratic` makes one")
        if reference is None:
            return str(rows[0]["campaign_id"])
        bare = reference.removeprefix("sha256:")
        fits = [row for row in rows if row["name"] == reference]
        fits = fits or [row for row in rows if bare and row["campaign_id"].removeprefix("sha256:").startswith(bare)]
        if len(fits) == 1:
            return str(fits[0]["campaign_id"])
        listed = ", ".join(f"{row['campaign_id'][7:19]} ({row['name']})" for row in (fits or rows)[:12])
        problem = "several campaigns fit" if fits else "unknown campaign"
        raise UnknownNameError(f"{problem} {reference!r}; known: {listed}")

    def _campaigns(self) -> list[dict[str, Any]]:
        """Return id and name of every campaign, the latest first; of an unreadable one the id alone, last."""
        try:
            rows = self.rows("select campaign_id, name from campaigns order by started_at desc, campaign_id")
            if {row["campaign_id"] for row in rows} <= set(campaigns_on_disk(self.root)):
                return rows
        except OpfieldError:
            pass
        # One damaged ledger must not take the other campaigns away.
        return [{"campaign_id": each, "name": _name_of(self.root, each)} for each in campaigns_on_disk(self.root)]


def _name_of(root: Path, campaign_id: str) -> str | None:
    try:
        first = next(iter(read_events(root, campaign_id)), None)
        return str(parse_json(first.payload)["identity"]["name"]) if first is not None else None
    except (OpfieldError, KeyError, TypeError):
        return None


def _relations_read(views: ViewSet, query: str) -> set[str]:
    """Return the relations that a query reads; all of them where that cannot be told from its text."""
    try:
        tables, functions = names_read(query)
    except (OpfieldError, duckdb.Error):
        return set(views.named)
    named = (tables | functions) & set(views.named)
    if tables - named - TABLES:
        # A catalogue table, or a name that DuckDB should answer for with everything in sight.
        return set(views.named)
    return set(views.closure(named)) if named else set()


def first_event(root: Path, campaign_id: str) -> Event | None:
    """Return the first event of a campaign; None where it has none.

    It is read through DuckDB: loading Arrow takes longer than judging a small campaign.

    Raises:
        DamageError: where its segment cannot be read.
    """
    names = ", ".join(each.name for each in fields(Event))

    def read() -> list[tuple[Any, ...]]:
        files = [glob.escape(str(path)) for path in segments(root, campaign_id)]
        if not files:
            return []
        with connect_memory() as con:
            query = f"select {names} from read_parquet($1, hive_partitioning = false) where sequence = 1"
            return con.execute(query, [files]).fetchall()

    try:
        rows = read_again(read)
    except OpfieldError:
        # Read event by event, it is said which file is damaged.
        return next(iter(read_events(root, campaign_id)), None)
    return Event(*rows[0]) if rows else None


def open_warehouse(root: Path | str | None = None, *, is_snapshot: bool = False) -> Warehouse:
    """Open a warehouse for reading.

    Args:
        root: the folder; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.
        is_snapshot: compute shared views once instead of at each question; for one look at what may still change.

    Raises:
        WarehouseError: where it is no warehouse, or one of a newer format.
    """
    return Warehouse(open_store(Path(root) if root is not None else default_root()).root, is_snapshot)
