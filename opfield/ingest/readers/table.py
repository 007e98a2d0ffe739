"""The reader of any table: CSV, JSONL, Parquet or Arrow, by a mapping of its columns, in long or wide form."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from opfield.ingest.keys import checked
from opfield.ingest.records import IngestError, Note, Reader, Reading, Record, Refused, Sample, System
from opfield.ingest.tables.cells import Cells
from opfield.ingest.tables.glimpse import glimpse
from opfield.ingest.tables.long_form import Spill, merged
from opfield.ingest.tables.mapping import OPTIONS, Columns, columns_of
from opfield.ingest.tables.opening import is_table, open_table
from opfield.ingest.tables.remarks import in_few
from opfield.ingest.tables.rows import Table, names_in

#: Rows whose columns are looked at, for a message that lists them.
_LOOKED_AT: Final = 200


def read_table(reading: Reading) -> Iterator[Record]:
    """Yield the records of tables.

    Raises:
        IngestError: where the mapping cannot be used, or a file cannot be read on.
    """
    yield from read_columns(reading, columns_of(reading.options))


def read_columns(reading: Reading, columns: Columns) -> Iterator[Record]:
    """Yield the records of tables under a mapping that stands already.

    Raises:
        IngestError: where no metric is named, or a file cannot be read on.
    """
    metrics = reading.metrics or (() if columns.is_long else tuple(columns.metrics))
    if not metrics and not columns.is_long:
        raise _no_metric(reading, columns)
    cells = Cells(columns, metrics)
    if not columns.is_long:
        yield from _files(reading, cells)
        return
    with Spill() as spill:
        for record in _files(reading, cells):
            if isinstance(record, Sample):
                spill.add(record)
            else:
                yield record
        for parts in spill.cells():
            yield from merged(parts)
    for name in metrics:
        if name not in cells.stated and name not in reading.optional:
            known = ", ".join(sorted(cells.stated)) or "none"
            yield Refused(
                reading.sources[0].name,
                f"no row has the metric {name!r}; met: {known}",
                "name one of those with --metric, or leave --metric out for all",
            )


def _files(reading: Reading, cells: Cells) -> Iterator[Record]:
    """Yield the records of each file, and then which columns were met nowhere."""
    columns = cells.columns
    further = [*columns.further(), *(() if columns.is_long else cells.metrics)]
    having, lacking = {name: list[str]() for name in further}, {name: list[str]() for name in further}
    known: dict[str, None] = {}
    systems = _unique([source.name for source in reading.sources])
    for source, system in zip(reading.sources, systems, strict=True):
        table = open_table(source, columns.delimiter, columns.encoding, reading.advance)
        unmet = [name for name in columns.needed() if not _has(table, name)]
        if unmet:
            yield from (_no_column(source.name, name, table.columns or ()) for name in unmet)
            continue
        has_rows, samples = False, 0
        for record in in_few(cells.of(table, system), source.name):
            has_rows = has_rows or isinstance(record, Sample | Refused)
            if isinstance(record, Sample):
                samples += 1
                if samples <= _LOOKED_AT:
                    known |= dict.fromkeys(table.columns or _names(record.content))
            yield record
        yield from cells.remarks.notes()
        if not has_rows:
            if columns.candidate is None and system not in cells.systems:
                yield System(system, system, source.name, {"file": source.name})
            yield Note("the file has a header and no rows" if table.columns else "the file has no rows", source.name)
        if samples:
            for name in further:
                (having if name in cells.met else lacking)[name].append(source.name)
    for name, files in lacking.items():
        if name in reading.optional:
            continue
        if files and not having[name]:
            yield _no_column(files[0], name, known)
        else:
            yield from (Note(f"the file has no column {name!r}; its trials have none", file) for file in files)


def _has(table: Table, name: str) -> bool:
    """Return whether a table may have a column; a dotted name looks inside a column of objects."""
    return table.columns is None or name in table.columns or name.split(".")[0] in table.columns


def _no_column(file: str, name: str, known: Sequence[str] | dict[str, None]) -> Refused:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    remedy = f"name {near[0]!r} instead, if that is meant" if near else "name one of its columns"
    return Refused(file, f"there is no column {name!r}; there are {', '.join(names[:50]) or 'none'}", remedy)


def _names(content: Any) -> list[str]:
    return [name for name, _ in names_in(content)] if isinstance(content, dict) else []


def _unique(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name} ({number})"
        found.append(unique)
    return found


def _no_metric(reading: Reading, columns: Columns) -> IngestError:
    """Return the error that lists the columns that hold numbers in the first rows of the first file."""
    listed = ""
    mapped = {*columns.needed(), *columns.further()}
    for source in reading.sources[:1]:
        seen = glimpse(source, columns.delimiter, columns.encoding)
        numbers = ", ".join(name for name, is_numeric in seen.items() if is_numeric and name not in mapped)
        listed = f"; columns of numbers in {source.name}: {numbers or 'none'}"
    return IngestError(
        f"no metric is named; give --metric COLUMN, or --metric-column and --value-column for the long form{listed}"
    )


reader = Reader(
    name="table",
    description="any CSV, JSONL, JSON array, Parquet or Arrow file, by a mapping of its columns",
    version="1",
    read=checked(read_table),
    recognizes=is_table,
    options=OPTIONS,
    is_general=True,
)
