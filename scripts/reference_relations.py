"""Pages of reference for every table, view and macro, from the comments in the SQL and the types of the real views.

The documentation's site makes them when it is built (`scripts/reference_site.py`). They are not kept in git: they are
long, every change of a view would change them too, and `opfield views NAME` prints the same.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from opfield.warehouse.contract import TableContract, load_contract
from opfield.warehouse.locate import contract_folder
from opfield.warehouse.session import connect
from opfield.warehouse.sql_text import header_meaning, macro_signature, names_read, split_header
from opfield.warehouse.store import create_store
from opfield.warehouse.views import Relation, load_views

FOLDER: Final = "reference/relations"

#: Layers in the order in which one is read from the other, each with what it holds.
LAYERS: Final = {
    "tables": "what was recorded: Parquet files that anything can read",
    "facts": "what was declared, accepted and spent",
    "pairs": "the two arms side by side: coverage, deltas, comparisons",
    "gates": "what each gate says of each candidate",
    "choice": "decisions, selection, and how sure it is",
    "audit": "rows that must not be there, and figures set side by side",
    "reference": "constants",
    "macros": "rules that several views share; DuckDB expands them in place",
}
_TYPES: Final = "select column_name, data_type from duckdb_columns() where table_name = ? order by column_index"


def pages() -> dict[str, str]:
    """Return each page's Markdown by its path below `docs`."""
    views, tables = load_views(), load_contract()
    types = column_types([*tables, *views.relations])
    layers = {
        name: sorted(each.name for each in views.relations.values() if _layer(each) == name) for name in LAYERS
    } | {"tables": list(tables)}
    homes = {name: layer for layer, names in layers.items() for name in names}
    made = {f"{FOLDER}/index.md": _overview(layers, views.relations, tables)}
    for layer, names in layers.items():
        parts = [f"# {layer.capitalize()}\n\n{_sentence(LAYERS[layer])}"]
        for name in names:
            if name in tables:
                parts.append(_table(tables[name]))
            else:
                parts.append(_relation(views.relations[name], types[name], homes))
        made[f"{FOLDER}/{layer}.md"] = "\n\n".join(parts) + "\n"
    return made


def column_types(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the columns of relations with their types, as DuckDB binds them over an empty warehouse."""
    with tempfile.TemporaryDirectory() as folder:
        root = create_store(Path(folder) / "warehouse").root
        with closing(connect(root)) as con:
            return {name: dict(con.execute(_TYPES, [name]).fetchall()) for name in names}


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


def _layer(relation: Relation) -> str:
    return "macros" if relation.is_macro else relation.layer or "gates"


def _overview(
    layers: Mapping[str, list[str]], relations: Mapping[str, Relation], tables: Mapping[str, TableContract]
) -> str:
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


def _table(table: TableContract) -> str:
    header, _ = split_header((contract_folder() / f"{table.name}.sql").read_text(encoding="utf-8"))
    rows = [
        f"| `{each.name}` | {each.type.lower()}{'' if each.is_nullable else ', never NULL'} | {escaped(each.comment)} |"
        for each in table.columns
    ]
    meaning = _prose(header_meaning(header))
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
