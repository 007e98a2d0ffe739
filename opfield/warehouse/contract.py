"""The tables' contract: `warehouse/<table>.sql`, read by executing it, never by guessing at its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from opfield.errors import WarehouseError, unknown_name
from opfield.warehouse.locate import contract_folder
from opfield.warehouse.memory import scratch_catalogue
from opfield.warehouse.sql_text import parsed

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import pyarrow as pa

TABLE_NAMES = ("events", "cells", "measurements", "cases", "candidates", "metrics", "artifacts")
"""The tables of a warehouse, the authority first."""

PRACTICE_TABLE_NAMES = ("runs", "operator_results", "bindings", "admissions")
"""The tables of the run-binding boundary, which belong to no campaign, each after those that its rows speak of."""

_COMMENT = re.compile(
    r"comment\s+on\s+(?:table|column)\s+(?P<what>[\w.]+)\s+is\s+'(?P<text>(?:[^']|'')*)'\s*;?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its name, DuckDB type, whether it may be NULL, and what it means."""

    name: str
    type: str
    is_nullable: bool
    comment: str


@dataclass(frozen=True, slots=True)
class TableContract:
    """What one contract file says: the table's columns, their meaning, and how events project into it.

    Attributes:
        name: Name of the table.
        columns: Columns in declared order.
        comment: Meaning of the table.
        projection_sql: The `insert into … by name …` statement over `segment`; None where the table is not projected.
        ddl: The statements that create the table and comment on it.
        event_types: Types of the events that the projection reads; empty where the table is not projected.
    """

    name: str
    columns: tuple[Column, ...]
    comment: str
    projection_sql: str | None
    ddl: tuple[str, ...]
    event_types: frozenset[str] = frozenset()


def load_contract(folder: Path | None = None) -> dict[str, TableContract]:
    """Read the contract of every table.

    Args:
        folder: Folder of the contract files; the installed one where none is given.

    Returns:
        The contracts by table name, in the order of `TABLE_NAMES`.

    Raises:
        WarehouseError: A contract file is missing, does not create the table it is named after, or projects events
            without naming their types.
    """
    return dict(_load_contract(folder or contract_folder()))


def load_practice_contract() -> dict[str, TableContract]:
    """Return the installed contracts of the tables of the run-binding boundary, in the order of their names' list."""
    return dict(_load_practice_contract())


@cache
def column_names() -> Mapping[str, tuple[str, ...]]:
    """Return the names of every table's columns, as `load_contract` has them, without all that it says of them."""
    with scratch_catalogue() as scratch:
        for name in TABLE_NAMES:
            for statement in scratch.extract_statements((contract_folder() / f"{name}.sql").read_text("utf-8")):
                if statement.type == duckdb.StatementType.CREATE:
                    scratch.execute(statement)
        listed = scratch.execute(
            "select table_name, list(column_name order by column_index) from duckdb_columns() "
            "where database_name = current_database() group by table_name"
        ).fetchall()
    names = dict(listed)
    return {name: tuple(names[name]) for name in TABLE_NAMES}


def projection_query(table: TableContract) -> str:
    """Return the SELECT that projects `segment` into `table`.

    Raises:
        WarehouseError: The table is not a projection of events.
    """
    if table.projection_sql is None:
        raise WarehouseError(f"table {table.name!r} is no projection of events; its contract has no insert statement")
    return _selected(table.projection_sql)


def arrow_schema(table: str) -> pa.Schema:
    """Return the Arrow schema of `table`, as DuckDB derives it from the contract.

    Raises:
        UnknownNameError: No contract bears this name.
    """
    schemas = _arrow_schemas(table in PRACTICE_TABLE_NAMES)
    if table not in schemas:
        raise unknown_name("table", table, schemas)
    return schemas[table]


@cache
def _arrow_schemas(are_of_practice: bool) -> dict[str, pa.Schema]:
    """Return the schemas of all tables of one kind, which takes as long as that of one."""
    import pyarrow as pa

    schemas = {}
    with scratch_catalogue() as scratch:
        for table in (load_practice_contract() if are_of_practice else load_contract()).values():
            for statement in table.ddl:
                if not _COMMENT.fullmatch(statement):
                    scratch.execute(statement)
            fields = scratch.sql(f"select * from {table.name} limit 0").to_arrow_table().schema
            is_nullable = {column.name: column.is_nullable for column in table.columns}
            schemas[table.name] = pa.schema([field.with_nullable(is_nullable[field.name]) for field in fields])
    return schemas


@cache
def _load_contract(folder: Path) -> tuple[tuple[str, TableContract], ...]:
    with scratch_catalogue() as scratch:
        return tuple((name, _read_table(scratch, folder / f"{name}.sql")) for name in TABLE_NAMES)


@cache
def _load_practice_contract() -> tuple[tuple[str, TableContract], ...]:
    folder = contract_folder()
    with scratch_catalogue() as scratch:
        return tuple((name, _read_table(scratch, folder / f"{name}.sql", False)) for name in PRACTICE_TABLE_NAMES)


def _read_table(scratch: duckdb.DuckDBPyConnection, path: Path, is_of_events: bool = True) -> TableContract:
    if not path.is_file():
        raise WarehouseError(f"the contract of table {path.stem!r} is missing: {path}; restore the file")
    statements = scratch.extract_statements(path.read_text(encoding="utf-8"))
    ddl = tuple(each.query.strip() for each in statements if each.type != duckdb.StatementType.INSERT)
    inserts = [each.query.strip() for each in statements if each.type == duckdb.StatementType.INSERT]
    # Comments are taken as they are written: storing one costs DuckDB more than all else here together.
    said = {statement: _COMMENT.fullmatch(statement) for statement in ddl}
    for statement in ddl:
        if not said[statement]:
            scratch.execute(statement)
    try:
        columns = scratch.execute(f'describe "{path.stem}"').fetchall()
    except duckdb.CatalogException:
        raise WarehouseError(
            f"{path} does not create a table named {path.stem!r}; name the table after its file"
        ) from None
    comments = {each["what"]: each["text"].replace("''", "'") for each in said.values() if each}
    unknown = comments.keys() - {path.stem, *(f"{path.stem}.{name}" for name, *_ in columns)}
    if unknown:
        raise WarehouseError(f"{path} comments on {min(unknown)!r}, which it does not create")
    projection = _without_comment(inserts[0]) if inserts else None
    return TableContract(
        name=path.stem,
        columns=tuple(
            Column(name, kind, null == "YES", comments.get(f"{path.stem}.{name}", ""))
            for name, kind, null, *_ in columns
        ),
        comment=comments.get(path.stem, ""),
        projection_sql=projection,
        ddl=ddl,
        event_types=frozenset()
        if projection is None or not is_of_events
        else _event_types(_selected(projection), path),
    )


def _selected(projection: str) -> str:
    """Return the SELECT of an `insert into … by name` statement."""
    return re.sub(r"^insert\s+into\s+\w+\s+by\s+name\s+", "", projection, count=1, flags=re.IGNORECASE)


def _event_types(query: str, path: Path) -> frozenset[str]:
    """Return the event types that a projection reads: each of its readings of `segment` must ask for some."""
    types: set[str] = set()
    readings = [node for node in _nodes(parsed(query)) if node.get("type") == "SELECT_NODE" and _reads_segment(node)]
    for node in readings:
        asked = _types_asked(node.get("where_clause") or {})
        if not asked:
            raise WarehouseError(f"{path} reads segment without naming event types; add: where type = '…'")
        types |= asked
    if not types:
        raise WarehouseError(f"the projection in {path} reads no segment, so that no event reaches the table")
    return frozenset(types)


def _nodes(told: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a serialized statement."""
    if isinstance(told, dict):
        yield told
    for each in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from _nodes(each)


def _reads_segment(select: dict[str, Any]) -> bool:
    """Whether a SELECT names `segment` among its sources, those of its subqueries left out."""
    sources = [select["from_table"]]
    while sources:
        source = sources.pop()
        if source.get("type") == "BASE_TABLE" and source["table_name"] == "segment":
            return True
        sources += [source[side] for side in ("left", "right") if source.get("type") == "JOIN"]
    return False


def _types_asked(condition: dict[str, Any]) -> set[str]:
    """Return the event types that a condition lets through; none where it does not restrict them."""
    children = [_types_asked(each) for each in condition.get("children", ()) if condition["class"] == "CONJUNCTION"]
    match condition.get("type"):
        case "COMPARE_EQUAL":
            operands = [condition["left"], condition["right"]]
        case "COMPARE_IN":
            operands = condition["children"]
        case "CONJUNCTION_AND":
            return next((each for each in children if each), set())
        case "CONJUNCTION_OR":
            return set().union(*children) if all(children) else set()
        case _:
            return set()
    column, *constants = operands
    if column.get("column_names", [""])[-1] != "type" or any(each["class"] != "CONSTANT" for each in constants):
        return set()
    return {_constant(each) for each in constants}


def _constant(node: dict[str, Any]) -> str:
    """Return the text of a constant; DuckDB 2 serializes a literal where DuckDB 1 does a value."""
    return str(node["literal"]["text"] if "literal" in node else node["value"]["value"])


def _without_comment(statement: str) -> str:
    """Drop the comment lines that stand before a statement."""
    return re.sub(r"\A(?:\s*--[^\n]*\n)+\s*", "", statement).rstrip().rstrip(";")
