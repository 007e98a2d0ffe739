"""Runs and judgments as mappings or tables: JSON, Parquet, and CBOR compressed with LZ4 (which ranx writes)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from opfield.ingest import files
from opfield.ingest.json_stream import Pairs, json_pairs
from opfield.ingest.readers.retrieval.cbor import nested_numbers
from opfield.ingest.readers.retrieval.refusals import shown
from opfield.ingest.records import IngestError, Source

_LZ4: Final = b"\x04\x22\x4d\x18"
_PARQUET: Final = b"PAR1"
_BATCH: Final = 65_536

_QUERY: Final = ("query_id", "q_id", "qid", "query-id", "query")
_DOCUMENT: Final = ("doc_id", "docno", "docid", "did", "corpus-id", "corpus_id")
_VALUE: Final = ("score", "relevance", "rel", "label")


@dataclass(frozen=True, slots=True)
class Entry:
    """One number that a file gives a document for a query.

    Attributes:
        query: id of the query.
        document: id of the document.
        value: what stands there: a number, or something that is none.
        place: row of a table; None where the ids themselves are the place.
    """

    query: str
    document: str
    value: Any
    place: int | None = None


def is_nested(source: Source) -> bool:
    """Return whether a file is a mapping or a table rather than lines of text."""
    if files.first_bytes(source.path, 4) in (_PARQUET, _LZ4):
        return True
    return files.first_character(source) in (b"{", b"[")


def entries(source: Source, advance: files.Advance = lambda _bytes: None) -> Iterator[Entry]:
    """Yield what a mapping or a table holds, in its order; keys that stand twice are yielded twice.

    Raises:
        IngestError: where the file is damaged or shaped otherwise.
    """
    start = files.first_bytes(source.path, 4)
    if start == _PARQUET:
        yield from _of_table(source, advance)
    elif start == _LZ4:
        yield from _of_lz4(source, advance)
    else:
        yield from _of_json(source, advance)


def place_of(source: Source, entry: Entry) -> str:
    """Return where an entry stands."""
    if entry.place is not None:
        return f"{source.name}: row {entry.place}"
    return f"{source.name}: [{shown(entry.query)}][{shown(entry.document)}]"


def _of_json(source: Source, advance: files.Advance) -> Iterator[Entry]:
    """Yield the entries of `{query: {document: number}}`; members that stand twice too, so that none hides another."""
    if files.first_character(source) != b"{":
        raise _misshapen(source, "it has array")
    for name, held in json_pairs(source, advance):
        query = files.whole_text(name)
        if not isinstance(held, Pairs):
            raise _misshapen(source, f"it has {_kind(held)}")
        for document, value in held:
            if isinstance(value, list):
                raise _misshapen(source, f"it has {_kind(value)} in {shown(query)}")
            yield Entry(query, files.whole_text(document), value)


def _kind(value: Any) -> str:
    if isinstance(value, Pairs):
        return "map"
    if isinstance(value, bool):
        return "boolean"
    return {list: "array", str: "string", type(None): "null"}.get(type(value), "number")


def _of_table(source: Source, advance: files.Advance) -> Iterator[Entry]:
    import pyarrow as pa  # loaded where a file needs it
    import pyarrow.parquet as pq

    with files.open_file(source) as raw:
        size = os.fstat(raw.fileno()).st_size
        try:
            table = pq.ParquetFile(raw)
            names = table.schema_arrow.names
            chosen = [next((name for name in known if name in names), None) for known in (_QUERY, _DOCUMENT, _VALUE)]
            if None in chosen:
                raise _misshapen(source, f"its columns are {', '.join(names)[:200]}", "columns q_id, doc_id and score")
            row = 0
            for batch in table.iter_batches(_BATCH, columns=chosen):
                columns = [batch.column(batch.schema.get_field_index(name)).to_pylist() for name in chosen]
                for query, document, value in zip(*columns, strict=True):
                    row += 1
                    yield Entry(_id(query, source, row), _id(document, source, row), value, row)
        except (pa.ArrowException, OSError, ValueError) as error:
            told = " ".join(str(error).split())[:200]
            raise IngestError(
                f"{source.name} is cut off or damaged Parquet ({told}); write or copy the file again"
            ) from None
        advance(size)


def _of_lz4(source: Source, advance: files.Advance) -> Iterator[Entry]:
    with files.open_file(source) as raw:
        size = os.fstat(raw.fileno()).st_size
        content = _without_lz4(raw, source, max(files.RATIO_ALLOWANCE, files.LARGEST_RATIO * size))
        # ranx compresses twice.
        while content.startswith(_LZ4):
            content = _without_lz4(io.BytesIO(content), source, max(files.RATIO_ALLOWANCE, files.LARGEST_RATIO * size))
    try:
        for query, document, value in nested_numbers(content):
            yield Entry(query, document, value)
    except ValueError as error:
        raise _misshapen(source, str(error)) from None
    advance(size)


def _without_lz4(raw: IO[bytes], source: Source, limit: int) -> bytes:
    import pyarrow as pa  # loaded where a file needs it

    out = bytearray()
    try:
        with pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "lz4") as stream:
            while chunk := stream.read(files.LARGEST_PART // 256):
                out += chunk
                if len(out) > limit:
                    raise IngestError(f"{source.name} expands beyond {limit} bytes; unpack it yourself if you trust it")
    except (pa.ArrowException, OSError) as error:
        told = " ".join(str(error).split())[:200]
        raise IngestError(f"{source.name} is cut off or damaged LZ4 ({told}); write or copy the file again") from None
    return bytes(out)


def _id(value: Any, source: Source, row: int) -> str:
    # Ids of retrieval are text; tools that lost this write whole numbers.
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise IngestError(f"{source.name}: row {row}: id {str(value)[:60]!r} is no text; write ids as text")
    return str(value)


def _misshapen(source: Source, what: str, wanted: str = "{query: {document: number}}") -> IngestError:
    return IngestError(f"{source.name} is no {wanted}: {what}; write it so, or as lines of text")
