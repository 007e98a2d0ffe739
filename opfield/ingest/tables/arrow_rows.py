"""Parquet and Arrow files as rows, a batch at a time."""

from __future__ import annotations

import base64
import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from opfield.ingest.files import Advance, first_bytes, open_file
from opfield.ingest.records import IngestError, Note, Refused, Source
from opfield.ingest.tables.json_rows import plain
from opfield.ingest.tables.rows import Row, Table, twice

#: Rows that become Python values at a time, and the bytes that they should not exceed.
_BATCH: Final = 1024
_BATCH_BYTES: Final = 16 * 2**20
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ERRORS: Final = (pa.ArrowException, OSError, ValueError, OverflowError, NotImplementedError)


def parquet(source: Source, advance: Advance = lambda _bytes: None) -> Table:
    """Return a Parquet file as a table; a folder name such as `model=a` gives no column.

    Raises:
        IngestError: where it is damaged, encrypted, or has two columns of one name.
    """
    with open_file(source) as file:
        try:
            parquet_file = pq.ParquetFile(file)
            metadata, schema = parquet_file.metadata, parquet_file.schema_arrow
        except _ERRORS as error:
            raise _damaged(source, "Parquet", error) from None
    held = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    size = max(1, min(_BATCH, _BATCH_BYTES * max(1, metadata.num_rows) // max(1, held)))

    def batches() -> Iterator[tuple[pa.RecordBatch, int]]:
        with open_file(source) as file:
            total, row_count = source.path.stat().st_size, max(1, metadata.num_rows)
            # Without buffering ahead, a row group is read page by page, however large it is.
            reader = pq.ParquetFile(file, pre_buffer=False, buffer_size=2**20)
            for batch in reader.iter_batches(batch_size=size):
                yield batch, total * batch.num_rows // row_count

    return _table(source, "Parquet", schema, batches(), advance)


def arrow(source: Source, advance: Advance = lambda _bytes: None) -> Table:
    """Return an Arrow file or stream, Feather included, as a table.

    Raises:
        IngestError: where it is damaged, or has two columns of one name.
    """
    start = first_bytes(source.path, 6)
    if start.startswith(b"FEA1"):
        raise IngestError(f"{source.name} is Feather version 1, which Arrow no longer writes; write it as Parquet")
    open_file(source).close()
    try:
        mapped = pa.memory_map(str(source.path))
        reader = pa.ipc.open_file(mapped) if start == b"ARROW1" else pa.ipc.open_stream(mapped)
    except _ERRORS as error:
        raise _damaged(source, "Arrow", error) from None

    def batches() -> Iterator[tuple[pa.RecordBatch, int]]:
        told = 0
        with mapped:
            if start == b"ARROW1":
                count = reader.num_record_batches
                stored = ((reader.get_batch(number), mapped.size() * (number + 1) // count) for number in range(count))
            else:
                stored = ((batch, mapped.tell()) for batch in reader)
            for batch, position in stored:
                # What a file says of its own buffers is not trusted.
                batch.validate(full=True)
                for offset in range(0, batch.num_rows, _BATCH):
                    yield batch.slice(offset, _BATCH), position - told
                    told = position

    return _table(source, "Arrow", reader.schema, batches(), advance)


def _table(
    source: Source, what: str, schema: pa.Schema, batches: Iterator[tuple[pa.RecordBatch, int]], advance: Advance
) -> Table:
    doubled = twice(schema.names)
    if doubled is not None:
        raise IngestError(f"{source.name} has two columns of the name {doubled!r}; rename one of them")
    return Table(source, tuple(schema.names), _rows(source, what, batches, advance))


def _rows(
    source: Source, what: str, batches: Iterator[tuple[pa.RecordBatch, int]], advance: Advance
) -> Iterator[Row | Note | Refused]:
    number = 0
    try:
        for batch, read in batches:
            names = batch.schema.names
            columns = [_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True):
                number += 1
                yield Row(f"{source.name}: row {number}", dict(zip(names, values, strict=True)))
            advance(read)
    except _ERRORS as error:
        raise _damaged(source, what, error, f" after row {number}") from None


def _values(column: pa.Array) -> list[Any]:
    """Return a column's values; times of nanoseconds, which Python does not have, are ISO text and seconds."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return [None if count is None else _moment(count, kind) for count in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_duration(kind):
        per_second = _PER_SECOND[kind.unit]
        return [None if count is None else count / per_second for count in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return list(column.cast(pa.time64("us"), safe=False).to_pylist())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return list(column.cast(pa.timestamp(kind.unit, "UTC")).to_pylist())
    return list(column.to_pylist())


def _moment(count: int, kind: Any) -> str:
    seconds, rest = divmod(count, _PER_SECOND["ns"])
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds, microseconds=rest // 1000)
    digits = f"{moment.isoformat(timespec='microseconds')}{rest % 1000:03}" if rest % 1000 else moment.isoformat()
    return digits + ("+00:00" if kind.tz is not None else "")


def as_json(value: Any) -> Any:
    """Return an Arrow value as JSON: times as ISO text, decimals as text, bytes in base64."""
    if value is None or isinstance(value, str | bool | int | float):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal | uuid.UUID) else repr(value)


def _damaged(source: Source, what: str, error: Exception, where: str = "") -> IngestError:
    told = " ".join(str(error).split())[:200]
    return IngestError(f"{source.name} cannot be read as {what}{where} ({told}); write or copy the file again")
