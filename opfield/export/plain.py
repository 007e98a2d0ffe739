"""Values as text formats have them: what CSV has no type for as JSON, and numbers with all their digits."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

#: What a spreadsheet takes for the start of a formula, in a cell that begins with it; full-width signs count as well.
FORMULA_START: Final = "^[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"


def json_lines(batch: pa.RecordBatch) -> Iterator[bytes]:
    """Yield each row of a batch as a JSON object on a line of its own, members in the order of the columns.

    Numbers have all their digits, so that a decimal is exact for a reader that keeps them; times are ISO 8601, bytes
    base64, maps objects. JSON has no number that is not finite: such a one is text.
    """
    is_plain = all(_is_finite(column) for column in batch.columns)
    for row in batch.to_pylist(maps_as_pydicts="strict"):
        yield orjson.dumps(row if is_plain else _finite(row), default=_exact, option=orjson.OPT_APPEND_NEWLINE)


def csv_columns(batch: pa.RecordBatch, *, is_guarded: bool) -> pa.RecordBatch:
    """Return a batch that a CSV writer can write: lists, structs and maps as JSON, bytes as base64.

    Args:
        batch: the rows.
        is_guarded: put an apostrophe before text that a spreadsheet would take for a formula; headings included.
    """
    columns = [_csv_column(column) for column in batch.columns]
    names = batch.schema.names
    if is_guarded:
        columns = [_guarded(column) if pa.types.is_string(column.type) else column for column in columns]
        names = _guarded(pa.array(names, pa.string())).to_pylist()
    return pa.RecordBatch.from_arrays(columns, names=names)


def _csv_column(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_nested(kind):
        values = column.to_pylist(maps_as_pydicts="strict")
        return pa.array([None if each is None else json_text(each).decode() for each in values], pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array([None if each is None else _base64(each) for each in column.to_pylist()], pa.string())
    if pa.types.is_dictionary(kind) or pa.types.is_decimal(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    return column


def _guarded(column: pa.Array) -> pa.Array:
    is_formula = pc.match_substring_regex(column, FORMULA_START)
    return pc.if_else(is_formula, pc.binary_join_element_wise("'", column, ""), column)


def json_text(value: Any) -> bytes:
    """Return a value as JSON.

    >>> json_text({"exact": Decimal("1.10"), "none": None, "no number": [float("nan")]})
    b'{"exact":1.10,"none":null,"no number":["NaN"]}'
    """
    return orjson.dumps(_finite(value), default=_exact)


def _exact(value: Any) -> Any:
    """Return what stands for a value that JSON has no type for."""
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    if isinstance(value, bytes):
        return _base64(value)
    return str(value)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _is_finite(column: pa.Array) -> bool:
    if pa.types.is_nested(column.type):
        return False  # not looked into: it is taken the slow way
    return not pa.types.is_floating(column.type) or pc.all(pc.is_finite(column)).as_py() is not False


def _finite(value: Any) -> Any:
    """Return a value with text for every number that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
