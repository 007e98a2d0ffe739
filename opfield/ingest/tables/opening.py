"""Which format a file is: its first bytes decide, then its name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opfield.ingest.files import Advance, first_bytes, first_character, is_gzip
from opfield.ingest.records import IngestError, Source
from opfield.ingest.tables.arrow_rows import arrow, parquet
from opfield.ingest.tables.delimited import delimited
from opfield.ingest.tables.json_rows import json_array, json_lines
from opfield.ingest.tables.rows import Table

_TEXTS: Final = (".csv", ".tsv", ".tab", ".psv", ".txt")
_LINES: Final = (".jsonl", ".ndjson", ".json")
_BINARY: Final = (".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc")
_STREAM: Final = b"\xff\xff\xff\xff"
_FOREIGN: Final = {
    b"PK\x03\x04": "is a ZIP archive or a workbook; unpack it, or export the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "is compressed with zstandard; unpack it",
    b"BZh": "is compressed with bzip2; unpack it",
    b"\xfd7zXZ": "is compressed with xz; unpack it",
    b"SQLite format 3": "is a SQLite database; export the table as CSV or Parquet",
    b"PARE": "is encrypted Parquet; write it without encryption",
}


def open_table(source: Source, delimiter: str | None, encoding: str, advance: Advance = lambda _bytes: None) -> Table:
    """Return a file of any of the formats as a table.

    Args:
        source: the file.
        delimiter: character between the fields of a CSV file; None to take it from the header.
        encoding: encoding of a CSV file.
        advance: told of the bytes read.

    Raises:
        IngestError: where it is of no format that is known, is empty, or cannot be read.
    """
    start, suffix = first_bytes(source.path, 16), _suffix(source.path)
    for magic, what in _FOREIGN.items():
        if start.startswith(magic):
            raise IngestError(f"{source.name} {what}")
    if start.startswith(b"PAR1"):
        return parquet(source, advance)
    if start.startswith((b"ARROW1", _STREAM, b"FEA1")):
        return arrow(source, advance)
    first = first_character(source)
    if not first:
        raise IngestError(f"{source.name} is empty; write it again, or leave it out")
    if suffix in _BINARY:
        raise IngestError(f"{source.name} does not begin as a {suffix} file does; write or copy it again")
    if suffix == ".tsv" or suffix == ".tab":
        return delimited(source, delimiter or "\t", encoding, advance)
    if suffix in _TEXTS:
        return delimited(source, delimiter, encoding, advance)
    if first == b"[":
        return json_array(source, advance)
    if first == b"{" or suffix in _LINES:
        return json_lines(source, advance)
    raise IngestError(
        f"{source.name} is no table by its first bytes or its name; name it .csv, .jsonl, .json, .parquet or .arrow"
    )


def is_table(path: Path) -> bool:
    """Return whether a file looks like a table by its name and first bytes; `.json` only where it is an array."""
    suffix = _suffix(path)
    start = first_bytes(path, 4096)
    if start.startswith((b"PAR1", b"ARROW1")):
        return True
    if not start or suffix not in (*_TEXTS, *_LINES, *_BINARY) or suffix == ".txt":
        return False
    if suffix in _BINARY:
        return start.startswith(_STREAM)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_gzip(path):
        return suffix != ".json"
    if suffix in _TEXTS:
        return b"\0" not in start
    return text.startswith(b"[") if suffix == ".json" else text.startswith(b"{")


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()
