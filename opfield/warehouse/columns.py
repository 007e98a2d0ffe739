"""Arrow tables from Python values, built without pandas.

`pyarrow.array` loads pandas wherever that is installed, to ask whether a list is one of its own. That takes as long as
judging a small campaign, and nothing here ever holds what is pandas'.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import pyarrow as pa

_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)


def table_of(columns: Mapping[str, Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Return columns of Python values as a table, as `pyarrow.table` does.

    Args:
        columns: values by name of the column, None for NULL; all of one length.
        schema: names and types, in order.

    Raises:
        TypeError, ValueError, OverflowError, pyarrow.ArrowInvalid: where a value is none of its type.
    """
    import pyarrow as pa

    return pa.Table.from_arrays([column_of(columns[each.name], each.type) for each in schema], schema=schema)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows."""
    import pyarrow as pa

    return pa.Table.from_batches([], schema=schema)


def column_of(values: Sequence[Any], type: pa.DataType) -> pa.Array:
    """Return Python values as an array, as `pyarrow.array` does; for nested types by way of it."""
    import pyarrow as pa

    if pa.types.is_string(type) or pa.types.is_binary(type):
        body = _variable(values, is_text=pa.types.is_string(type))
    elif type == pa.int64():
        body = [array("q", _filled(values, 0))]
    elif type == pa.int32():
        body = [array("i", _filled(values, 0))]
    elif type == pa.timestamp("us"):
        body = [array("q", [(each - _EPOCH) // _MICROSECOND for each in _filled(values, _EPOCH)])]
    else:
        return pa.array(values, type)
    return pa.Array.from_buffers(type, len(values), [_validity(values), *map(pa.py_buffer, body)])


def _filled(values: Sequence[Any], filler: Any) -> list[Any]:
    return [filler if each is None else each for each in values]


def _variable(values: Sequence[str | bytes | None], *, is_text: bool) -> list[array[int] | bytes]:
    """Return where each value begins, and where the last one ends, and the values end to end."""
    parts = [each.encode() if is_text else each for each in _filled(values, "" if is_text else b"")]
    begins = array("i", [0])
    for each in parts:
        begins.append(begins[-1] + len(each))
    return [begins, b"".join(parts)]


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    """Return a bit for each value, the first one lowest: set where there is one. None where all are there."""
    import pyarrow as pa

    if None not in values:
        return None
    bits = bytearray((len(values) + 7) // 8)
    for ix, each in enumerate(values):
        if each is not None:
            bits[ix >> 3] |= 1 << (ix & 7)
    return pa.py_buffer(bytes(bits))
