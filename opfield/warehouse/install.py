"""The views in DuckDB: installed into a connection, or written as `open.sql`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import duckdb

from opfield.core import canonical_json, digest
from opfield.warehouse.contract import TableContract, load_practice_contract
from opfield.warehouse.parallel import run_all
from opfield.warehouse.practice_tables import absent_tables, empty_query, live_query
from opfield.warehouse.sql_text import macro_body, macro_signature
from opfield.warehouse.views import Relation, ViewSet

#: Start of the line of `open.sql` that bears the digest of what it was rendered from.
RENDERED_FROM: Final = "-- Rendered from "


def install(
    con: duckdb.DuckDBPyConnection,
    views: ViewSet,
    contract_tables: Mapping[str, TableContract],
) -> None:
    """Create the tables' views, the macros and every relation in `con`, comments included.

    The connection's variable `root` is the warehouse folder (`.` where unset); `campaign`, the hex part of a campaign's
    id, restricts every table to that campaign. Both may be changed afterwards.

    Args:
        con: Connection to install into; what it has under these names is replaced.
        views: The relations.
        contract_tables: The tables, as `load_contract` gives them.
    """
    con.execute(open_sql(views, contract_tables, absent_tables(con)))


def install_some(
    con: duckdb.DuckDBPyConnection,
    views: ViewSet,
    columns: Mapping[str, Sequence[str]],
    names: Iterable[str],
    stored: Collection[str] = (),
    practice: Mapping[str, str] = MappingProxyType({}),
    *,
    is_listed: bool = False,
) -> None:
    """Create these relations, each in `stored` computed once and kept as a table.

    Binding all views takes a second, binding a few does not, and a relation that many others read is computed once.
    Stored relations are computed one after the other: they come from one state of the folder only where the files that
    they read are listed beforehand.

    Args:
        con: Connection to a database of its own to install into, with the variables `root` and `campaign` set.
        views: The relations.
        columns: The columns of each table to create, as `column_names` gives them.
        names: Relations that will be asked for, and all that they read, as `ViewSet.closure` gives them.
        stored: Relations and tables to compute now; small ones, since they are kept in memory.
        practice: SELECT of each table of the run-binding boundary that is to be created.
        is_listed: Whether each table reads the files that the connection's variable `<table>_files` lists.
    """
    statements: dict[str, str] = {}
    reads: dict[str, Collection[str]] = {}
    for table, listed in columns.items():
        files = f"getvariable('{table}_files')" if is_listed else _patterns(table)
        query = _table_query(listed, files)
        statements[table] = _create_table(table, query) if table in stored else _create_view(table, query)
    for name, query in practice.items():
        statements[name] = _create_view(name, query)
    for name in views.ordered(names):
        relation = views.named[name]
        reads[name] = views.reads(name)
        if relation.is_macro:
            statements[name] = _create_macro(relation)
        elif name in stored:
            statements[name] = _create_table(name, relation.sql)
        else:
            statements[name] = _create_view(name, relation.sql if stored else views.executable(name))
    run_all(con, statements, reads)


def rendered_from(views: ViewSet, contract_tables: Mapping[str, TableContract]) -> str:
    """Return a digest of all that the text of `open.sql` depends on, which is much cheaper to have than the text.

    It covers the relations and tables, and the code that renders them.
    """
    code = [
        (Path(__file__).with_name(f"{module}.py")).read_bytes()
        for module in ("install", "practice_tables", "sql_text", "views")
    ]
    tables = {
        table.name: [table.comment, *([each.name, each.comment] for each in table.columns)]
        for table in (*contract_tables.values(), *load_practice_contract().values())
    }
    return digest("opfield/open-sql/v1", *code, canonical_json({"tables": tables, "relations": views.sources()}))


def open_sql(views: ViewSet, contract_tables: Mapping[str, TableContract], absent: Collection[str] = ()) -> str:
    """Return the text of `open.sql`: all that a DuckDB shell standing in the folder needs.

    A view is bound when it is created. Binding it to the campaign `none`, which is always there and empty, opens a
    warehouse of a thousand campaigns as fast as an empty one.

    Args:
        views: The relations.
        contract_tables: The tables of campaigns, as `load_contract` gives them.
        absent: Tables of the run-binding boundary of which the warehouse has no file.
    """
    statements = ["set variable opened_campaign = getvariable('campaign')", "set variable campaign = 'none'"]
    practice = load_practice_contract()
    queries = {
        each.name: _table_query([column.name for column in each.columns], _patterns(each.name))
        for each in contract_tables.values()
    } | {name: empty_query(each) if name in absent else live_query(each) for name, each in practice.items()}
    for table in (*contract_tables.values(), *practice.values()):
        statements += [_create_view(table.name, queries[table.name]), _comment("view", table.name, table.comment)]
        statements += [_comment("column", f"{table.name}.{each.name}", each.comment) for each in table.columns]
    for relation in views.relations.values():
        statements += _relation_statements(relation, views.executable(relation.name))
    statements += ["set variable campaign = getvariable('opened_campaign')", "reset variable opened_campaign"]
    title = (
        "-- All tables and views of this warehouse. From this folder: duckdb -init open.sql\n"
        "-- From elsewhere: set variable root = 'path of this folder'; then .read open.sql\n"
        f"{RENDERED_FROM}{rendered_from(views, contract_tables)}\n"
    )
    return title + "".join(f"{each};\n" for each in statements)


def _patterns(table: str) -> str:
    """Return the patterns of a table's files: the empty file, and every campaign's or the chosen one's."""
    folder = f"coalesce(getvariable('root'), '.') || '/{table}/campaign="
    return (
        f"[{folder}none/*.parquet',\n     {folder}' || coalesce(getvariable('campaign')::varchar, '*') || '/*.parquet']"
    )


def _table_query(columns: Sequence[str], files: str) -> str:
    """Return the SELECT of a table's columns from its files, which an expression gives."""
    rest = ", ".join(each for each in columns if each != "campaign_id")
    # Not by hive partitioning: a folder above the warehouse that is called status=… would take the column's place.
    # A filter on the campaign still prunes files, since the name of a file is a constant of it.
    last_folder = r".*[/\\]campaign=([^/\\]*)[/\\][^/\\]*$"
    return (
        f"select 'sha256:' || regexp_extract(filename, '{last_folder}', 1) as campaign_id, "
        f"{rest}\nfrom read_parquet(\n"
        f"    {files},\n"
        "    hive_partitioning = false, filename = true\n)"
    )


def _relation_statements(relation: Relation, executable: str) -> list[str]:
    if relation.is_macro:
        return [_create_macro(relation), _comment("macro", relation.name, relation.meaning)]
    return [
        _create_view(relation.name, executable),
        _comment("view", relation.name, relation.meaning),
        *(_comment("column", f"{relation.name}.{name}", text) for name, text in relation.columns.items()),
    ]


def _create_macro(relation: Relation) -> str:
    return f"create or replace macro {macro_signature(relation.sql)} as {macro_body(relation.sql)}"


def _create_table(name: str, sql: str) -> str:
    return f"create or replace table {name} as\n{sql}"


def _create_view(name: str, sql: str) -> str:
    return f"create or replace view {name} as\n{sql}"


def _comment(kind: str, name: str, text: str) -> str:
    quoted = text.replace("'", "''")
    return f"comment on {kind} {name} is '{quoted}'"
