"""Pages of reference for every table, view and macro, from the comments in the SQL and the types of the real views.

The documentation's site makes them when it is built (`scripts/reference_site.py`). They are not kept in git: they are
long, every change of a view would change them too, and `opfield views NAME` prints the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import duckdb

from opfield.warehouse.contract import TABLE_NAMES
from opfield.warehouse.locate import contract_folder
from opfield.warehouse.sql_text import header_meaning, macro_signature, names_read, split_header
from opfield.warehouse.views import Relation, ViewSet, load_views

FOLDER: Final = "reference/relations"

#: Layers in the order in which one is read from the other, each with what it holds.
LAYERS: Final = {
    "tables": "what was recorded: Parquet files that anything can read",
    "facts": "what was declared, accepted and spent",
    "pairs": "the two arms side by side: coverage, deltas, comparisons",
    "gates": "what each gate says of each candidate",
    "choice": "decisions, selection, and how sure it is",
    "practice": "attempts that are bound to the runs of other tools, and those that are refused",
    "audit": "rows that must not be there, and figures set side by side",
    "reference": "constants",
    "macros": "rules that several views share; DuckDB expands them in place",
}
_TYPES: Final = "select column_name, data_type from duckdb_columns() where table_name = ? order by column_index"


def pages() -> dict[str, str]:
    """Return each page's Markdown by its path below `docs`.

    Raises:
        ValueError: for a folder of views that `LAYERS` does not name.
    """
    views = load_views()
    tables, types = bound(views)
    layers = {"tables": list(tables), **{layer: [] for layer in LAYERS if layer != "tables"}}
    for name, relation in sorted(views.relations.items()):
        layer = "macros" if relation.is_macro else relation.layer or "gates"
        if layer not in layers:
            raise ValueError(f"say in LAYERS what the views in sql/{layer} hold")
        layers[layer].append(name)
    layers = {layer: names for layer, names in layers.items() if names}
    homes = {name: layer for layer, names in layers.items() for name in names}
    made = {f"{FOLDER}/index.md": _overview(layers, views.relations, tables)}
    for layer, names in layers.items():
        # Not the bare word: a relation may bear the name of its layer, and its anchor is its name.
        parts = [f"# Relations: {layer}\n\n{_sentence(LAYERS[layer])}"]
        for name in names:
            is_table = name in tables
            parts.append(_table(tables[name]) if is_table else _relation(views.relations[name], types[name], homes))
        made[f"{FOLDER}/{layer}.md"] = "\n\n".join(parts) + "\n"
    return made


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the contract, as its file creates it.

    Attributes:
        name: its name, and that of its file.
        header: comment above the statements.
        comment: one line.
        columns: name, type, whether it may be NULL, and meaning of each column.
    """

    name: str
    header: str
    comment: str
    columns: tuple[tuple[str, str, bool, str], ...]


def bound(views: ViewSet) -> tuple[dict[str, Table], dict[str, dict[str, str]]]:
    """Return the tables, and the type of each column of each relation, as DuckDB binds the views over the tables."""
    files = {path.stem: path for path in contract_folder().glob("*.sql") if path.stem != "open"}
    order = [*TABLE_NAMES, *sorted(files.keys() - set(TABLE_NAMES))]
    with closing(duckdb.connect()) as con:
        tables = {name: _created(con, name, files[name].read_text(encoding="utf-8")) for name in order}
        for name, relation in views.relations.items():
            # As an empty table: whatever reads it binds its columns, and not again all that it is made of.
            con.execute(relation.sql if relation.is_macro else f"create table {name} as {relation.sql} with no data")
        return tables, {name: dict(con.execute(_TYPES, [name]).fetchall()) for name in views.relations}


def _created(con: duckdb.DuckDBPyConnection, name: str, text: str) -> Table:
    """Create a table as its file says, without what fills it, and return what DuckDB then knows of it."""
    for statement in con.extract_statements(text):
        if statement.type != duckdb.StatementType.INSERT:
            con.execute(statement)
    ((comment,),) = con.execute("select comment from duckdb_tables() where table_name = ?", [name]).fetchall()
    columns = con.execute(
        "select column_name, data_type, is_nullable, comment from duckdb_columns() where table_name = ? "
        "order by column_index",
        [name],
    ).fetchall()
    return Table(name, split_header(text)[0], comment, tuple(columns))


def escaped(text: str) -> str:
    r"""Return text for a Markdown table's cell: what a reader sees is the text itself, and code stays code.

    >>> print(escaped("a | b, `x|y`, <c> and *d*"))
    a \| b, `x\|y`, &lt;c&gt; and \*d\*
    """
    parts = re.split(r"(`[^`]*`)", text)
    plain = [
        part if ix % 2 else re.sub(r"([*\\\[\]])", r"\\\1", part).replace("<", "&lt;").replace(">", "&gt;")
        for ix, part in enumerate(parts)
    ]
    return "".join(plain).replace("|", "\\|").replace("\n", " ")


def _overview(layers: Mapping[str, list[str]], relations: Mapping[str, Relation], tables: Mapping[str, Table]) -> str:
    parts = [
        "# Relations\n\n"
        "Every table, view and macro, with the words of its own SQL file and the types that DuckDB gives its columns. "
        "`opfield views` lists tables and views, and `opfield views NAME` prints one with its SQL."
    ]
    for layer, names in layers.items():
        holds = {name: tables[name].comment if name in tables else _purpose(relations[name]) for name in names}
        rows = [f"| [`{name}`]({layer}.md#{name}) | {escaped(holds[name])} |" for name in names]
        parts.append(
            f"## {layer.capitalize()}\n\n{_sentence(LAYERS[layer])}\n\n{_header('relation', 'holds')}" + "\n".join(rows)
        )
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _purpose(relation: Relation) -> str:
    """Return the first sentence of a header, without the title before it."""
    first = " ".join(relation.meaning.split("\n\n")[0].split("\n"))
    title, colon, rest = first.partition(": ")
    sentence = (rest if colon and len(title) < 40 else first).split(". ")[0].rstrip(".")
    return _sentence(sentence)


def _table(table: Table) -> str:
    rows = [
        f"| `{name}` | {kind.lower()}{'' if is_nullable else ', never NULL'} | {escaped(meaning)} |"
        for name, kind, is_nullable, meaning in table.columns
    ]
    meaning = _prose(header_meaning(table.header))
    return f"## {table.name}\n\n{meaning}\n\n{_header('column', 'type', 'meaning')}" + "\n".join(rows)


def _relation(relation: Relation, types: Mapping[str, str], homes: Mapping[str, str]) -> str:
    heading = f"## {relation.name}\n\n{_prose(relation.meaning)}"
    read, called = names_read(relation.sql)
    read_names = sorted(name for name in read | called if name in homes and name != relation.name)
    links = ", ".join(f"[`{name}`]({homes[name]}.md#{name})" for name in read_names)
    reads = f"\n\nReads {links}." if links else ""
    if relation.is_macro:
        return f"{heading}\n\n```sql\n{macro_signature(relation.sql)}\n```{reads}"
    rows = [
        f"| `{name}` | {escaped(types[name].lower())} | {escaped(text)} |" for name, text in relation.columns.items()
    ]
    return f"{heading}{reads}\n\n{_header('column', 'type', 'meaning')}" + "\n".join(rows)


def _prose(meaning: str) -> str:
    """Return a header's lines as paragraphs: one for its purpose, one for its grain, and one for each rule."""
    text = re.sub(r"\n(?=Grain: |needs: |takes: )", "\n\n", meaning)
    text = re.sub(r"(?m)^(Grain: (?:.+\n)*?.*\.)\n(?=[A-Z`])", r"\1\n\n", text)
    lines = [_line(line) for line in text.split("\n")]
    return "\n".join(lines)


def _line(line: str) -> str:
    word, colon, rest = line.partition(": ")
    if colon and word in ("Grain", "needs", "takes"):
        return f"**{word.capitalize()}:** {escaped(rest)}"
    return escaped(line)


def _header(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n"
