"""JSON lines, and a JSON array of objects, as rows that are kept whole as evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from opfield.ingest.files import Advance, json_value, lines
from opfield.ingest.json_stream import json_items
from opfield.ingest.records import IngestError, Note, Refused, Source
from opfield.ingest.tables.rows import Row, Table


def json_lines(source: Source, advance: Advance = lambda _bytes: None) -> Table:
    """Return a file of one JSON object a line as a table; plain or gzip."""
    return Table(source, None, _line_rows(source, advance), keeps_rows=True)


def json_array(source: Source, advance: Advance = lambda _bytes: None) -> Table:
    """Return a JSON document that is an array of objects as a table; plain or gzip."""
    return Table(source, None, _item_rows(source, advance), keeps_rows=True)


def _line_rows(source: Source, advance: Advance) -> Iterator[Row | Note | Refused]:
    for number, line in lines(source, advance):
        place = f"{source.name}: line {number}"
        try:
            value = json_value(line, place)
        except IngestError:
            if number == 1 and (line == b"{" or source.path.suffix == ".json"):
                raise IngestError(
                    f"{source.name} is one JSON object over many lines, or is cut off; write its rows as an array or "
                    "one a line"
                ) from None
            raise
        yield from _row(place, value)


def _item_rows(source: Source, advance: Advance) -> Iterator[Row | Note | Refused]:
    for number, value in enumerate(json_items(source, "item", advance)):
        yield from _row(f"{source.name}: [{number}]", value)


def _row(place: str, value: Any) -> Iterator[Row | Refused]:
    if isinstance(value, dict):
        yield Row(place, value)
    else:
        yield Refused(
            place, f"a JSON {_WORDS[type(value)]}, not an object", "write each row as an object of its columns"
        )


_WORDS: Final = {
    str: "text", int: "number", float: "number", bool: "boolean", list: "array", type(None): "null", dict: "object",
}  # fmt: skip


def plain(value: Any) -> Any:
    """Return a JSON value in which NaN and infinities, which JSON does not have, are their names."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
