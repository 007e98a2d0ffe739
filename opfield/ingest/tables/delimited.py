"""CSV and its kin as rows: exact texts, the line where a record starts, and no guess beyond the delimiter."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from typing import IO, Final

from opfield.ingest.files import LARGEST_PART, Advance, expanded, open_file
from opfield.ingest.records import IngestError, Note, Refused, Source
from opfield.ingest.tables.rows import Row, Table, twice

_DELIMITERS: Final = (",", ";", "\t", "|")
_NAMES: Final = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
#: A line of more delimiters is no row of results, and its fields would fill the memory.
_MOST_FIELDS: Final = 5_000_000
#: A file of more blank lines is no table; it would be read for minutes to no end.
_MOST_BLANK: Final = 1_000_000
#: Encodings whose line ends are no single byte; their lines are found after decoding.
_WIDE: Final = ("utf-16", "utf16", "utf_16", "utf-32", "utf32", "utf_32")


def delimited(source: Source, delimiter: str | None, encoding: str, advance: Advance = lambda _bytes: None) -> Table:
    """Return a plain or gzip CSV file as a table; its values are texts.

    Python's reader is used for what it keeps: the text exactly as written and the line numbers, in bounded memory.

    Args:
        source: the file.
        delimiter: character between fields; None to take it from the header.
        encoding: Python's name of the encoding.
        advance: told of the bytes read.

    Raises:
        IngestError: where the file is empty, is not in this encoding, or its header is no header.
    """
    try:
        "a".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        raise IngestError(f"--encoding {encoding!r} is no text encoding; name one such as utf-8 or latin-1") from None
    # A limit of the module's own, far below what results hold; the lines are bounded where they are read.
    if csv.field_size_limit() < LARGEST_PART:
        csv.field_size_limit(LARGEST_PART)
    texts = _Texts(_texts(source, encoding, advance))
    first = next((numbered for numbered in texts if numbered[1].strip()), None)
    if first is None:
        raise IngestError(f"{source.name} is empty; write it again with a header, or leave it out")
    header_text = first[1]
    taken = delimiter or _sniffed(header_text)
    records = _records(source, itertools.chain([first], texts), taken)
    line, header = next(records)
    doubled = twice(header)
    if doubled is not None:
        raise IngestError(f"{source.name}: line {line} names the column {doubled!r} twice; rename one of them")
    notes = []
    if delimiter is None and any(other in header_text for other in _DELIMITERS if other != ","):
        notes.append(Note(f"fields are separated by {_NAMES[taken]}; --delimiter says otherwise", source.name))
    return Table(source, tuple(header), _rows(source, header, records, notes, texts), has_types=False)


def _rows(
    source: Source, header: list[str], records: Iterator[tuple[int, list[str]]], notes: list[Note], texts: _Texts
) -> Iterator[Row | Note | Refused]:
    yield from notes
    blank = 0
    for line, record in records:
        place = f"{source.name}: line {line}"
        if len(record) == len(header):
            yield Row(place, dict(zip(header, record, strict=True)))
        elif record:
            yield Refused(
                place,
                f"{len(record)} fields under a header of {len(header)}",
                "write one field for each column, and quote fields that hold the delimiter, quotes or line ends",
            )
        else:
            blank += 1
            if blank > _MOST_BLANK:
                raise IngestError(f"{place} is the blank line number {blank}, which no table has; leave the file out")
    if not texts.last.endswith(("\n", "\r")):
        # A number may have lost its last digits.
        yield Note("the last line has no end: the file may be cut off", f"{source.name}: line {texts.number}")


class _Texts:
    """The lines of a file with their numbers; it knows the last one."""

    def __init__(self, numbered: Iterator[tuple[int, str]]) -> None:
        self._numbered = numbered
        self.number, self.last = 0, ""

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        self.number, self.last = next(self._numbered)
        return self.number, self.last


def _records(source: Source, texts: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line that it starts on; blank lines give an empty record."""
    at = 0

    def fed() -> Iterator[str]:
        nonlocal at
        for number, text in texts:
            at = number
            if len(text) > _MOST_FIELDS and text.count(delimiter) > _MOST_FIELDS:
                raise IngestError(
                    f"{source.name}: line {number} has more than {_MOST_FIELDS} delimiters; it is no row, leave it out"
                )
            yield text

    reader = csv.reader(fed(), delimiter=delimiter, strict=True)
    while True:
        start = at + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            told = str(error)
            if "new-line character" in told:
                why = "has line ends of a lone carriage return; write the file with newlines"
            elif "unexpected end" in told or "field larger" in told:
                why = "opens a quote that is never closed; close it, or write the file again if it was cut off"
            else:
                why = f"is no CSV ({told}); quote the field, and double the quotes inside it"
            raise IngestError(f"{source.name}: line {start} {why}") from None
        yield start, record


def _sniffed(header: str) -> str:
    """Return the delimiter that stands most often outside quotes in the header; a comma where none does."""
    outside = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _texts(source: Source, encoding: str, advance: Advance) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, with its end and without a BOM."""
    with open_file(source) as raw:
        stream = expanded(raw, source, advance)
        wide = encoding.lower().startswith(_WIDE)
        yield from _wide_texts(stream, source, encoding) if wide else _byte_texts(stream, source, encoding)


def _byte_texts(stream: IO[bytes], source: Source, encoding: str) -> Iterator[tuple[int, str]]:
    number = 0
    while line := stream.readline(LARGEST_PART + 1):
        number += 1
        if len(line) > LARGEST_PART:
            limit = f"{LARGEST_PART // 2**20} MiB"
            raise IngestError(f"{source.name}: line {number} is longer than {limit}; it is no CSV, or leave it out")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            utf16 = number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff")
            remedy = "say --encoding utf-16" if utf16 else "it is no text file, or was damaged; write it again"
            raise IngestError(f"{source.name}: line {number} holds a NUL byte; {remedy}")
        try:
            yield number, line.decode(encoding)
        except UnicodeDecodeError as error:
            raise IngestError(
                f"{source.name}: line {number} byte {error.start} ({line[error.start : error.start + 1]!r}) is not "
                f"{encoding}; say its encoding, such as --encoding latin-1 or --encoding cp1252"
            ) from None


def _wide_texts(stream: IO[bytes], source: Source, encoding: str) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, text in enumerate(io.TextIOWrapper(stream, encoding, newline=""), 1):
            yield number, text.removeprefix("\ufeff")
    except UnicodeError as error:
        raise IngestError(
            f"{source.name}: line {number + 1} is not {encoding} ({error}); say its encoding with --encoding"
        ) from None
