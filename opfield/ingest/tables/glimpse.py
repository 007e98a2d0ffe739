"""A glimpse of a file's first rows: which columns there are, and which of them hold numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from opfield.ingest.records import Source
from opfield.ingest.tables.opening import open_table
from opfield.ingest.tables.rows import ABSENT, Row, member, names_in
from opfield.ingest.tables.scalars import Unfit, number_of

#: Rows that are looked at.
_ROWS: Final = 200


def glimpse(source: Source, delimiter: str | None = None, encoding: str = "utf-8") -> dict[str, bool]:
    """Return each column of the first rows, and whether it holds numbers and nothing else.

    Args:
        source: the file.
        delimiter: of a CSV file; None to take it from the header.
        encoding: of a CSV file.

    Raises:
        IngestError: where the file cannot be read.
    """
    table = open_table(source, delimiter, encoding)
    rows = [row for row in islice(table.rows, _ROWS) if isinstance(row, Row)]
    names = dict.fromkeys(table.columns or ())
    for row in rows:
        names |= dict.fromkeys(name for name, _ in names_in(row.values))
    return {name: _is_numeric([member(row.values, name) for row in rows]) for name in names}


def _is_numeric(values: Sequence[Any]) -> bool:
    try:
        numbers = [number_of(value, "").value for value in values if value is not ABSENT]
    except Unfit:
        return False
    return any(number is not None for number in numbers)
