"""Rows as Arrow batches of equal length whose bytes depend on the rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

#: Rows of a batch, and so of a row group of Parquet; fewer where a row may hold a whole artifact.
ROWS: Final = 65_536
ROWS_WITH_CONTENT: Final = 1_024


def batch_rows(schema: pa.Schema) -> int:
    """Return how many rows of a schema stand in a batch."""
    return ROWS_WITH_CONTENT if any(pa.types.is_binary(column.type) for column in schema) else ROWS


def equal_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of `rows` rows, the last one shorter, however they came."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        while count >= rows:
            table = pa.Table.from_batches(waiting, schema)
            yield _joined(table.slice(0, rows))
            waiting = table.slice(rows).to_batches()
            count -= rows
    if count:
        yield _joined(pa.Table.from_batches(waiting, schema))


def settled(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with zeros where a value is NULL: what stands there otherwise differs from run to run."""
    return pa.RecordBatch.from_arrays([_settled(column) for column in batch.columns], schema=batch.schema)


def _joined(table: pa.Table) -> pa.RecordBatch:
    # Combining copies into new buffers, without offsets into larger ones.
    (batch,) = table.combine_chunks().to_batches(max_chunksize=len(table))
    return batch


def _settled(array: pa.Array) -> pa.Array:
    if pa.types.is_nested(array.type):
        return pa.array(array.to_pylist(), array.type)
    if not array.null_count or not _is_of_fixed_width(array.type):
        return array
    zero = pa.scalar(0, pa.int8()).cast(array.type) if not pa.types.is_temporal(array.type) else _first_moment(array)
    filled = pc.fill_null(array, zero)
    return pa.Array.from_buffers(array.type, len(array), [pc.is_valid(array).buffers()[1], filled.buffers()[1]])


def _is_of_fixed_width(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _first_moment(array: pa.Array) -> pa.Scalar:
    width = pa.int64() if array.type.bit_width == 64 else pa.int32()
    return pa.scalar(0, width).cast(array.type)
