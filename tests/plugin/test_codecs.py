"""Codecs: what is written is read back, and nothing else is read."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.core import seal
from opfield.errors import IdentityError
from opfield.plugin import ArrowCodec, JsonCodec, TypeCodec
from opfield.plugin.arrow import MOST_FREE_ROWS
from tests.plugin.toy import Point


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_a_model_is_read_back_as_it_was_written(x: int, y: list[float]) -> None:
    codec = TypeCodec(Point)
    point = Point(x=x, y=tuple(y))
    assert codec.decode("p/v1", seal("p/v1", codec.encode("p/v1", point)).payload) == point


@pytest.mark.parametrize(
    "payload", [None, [], {"x": "1"}, {"x": True}, {"x": 1, "z": 2}, {"x": 1.5}, {"y": []}, {"x": 1, "y": [None]}]
)
def test_a_payload_that_does_not_fit_a_model_is_refused(payload: Any) -> None:
    with pytest.raises(IdentityError, match="payload of p/v1 does not fit"):
        TypeCodec(Point).decode("p/v1", payload)


@pytest.mark.parametrize("value", [{"x": 1}, 3, None, Point.model_construct(x="1"), Point.model_construct(z=1)])
def test_a_value_that_is_none_of_the_type_is_not_written(value: Any) -> None:
    with pytest.raises(IdentityError, match=r"p/v1"):
        TypeCodec(Point).encode("p/v1", value)


def test_a_json_value_that_was_read_is_a_copy() -> None:
    payload = {"a": [1]}
    JsonCodec().decode("j/v1", payload)["a"].append(2)
    assert payload == {"a": [1]}


def test_an_arrow_table_keeps_types_nulls_and_metadata_and_one_identity_however_it_is_cut() -> None:
    codec = ArrowCodec()
    schema = pa.schema([pa.field("n", pa.int16()), pa.field("t", pa.timestamp("us", "UTC"))], metadata={"k": "v"})
    table = pa.table({"n": [1, None, 3], "t": [None, 5, 7]}, schema=schema)
    payload = codec.encode("t/v1", table)
    again = codec.decode("t/v1", payload)
    assert again.equals(table, check_metadata=True)
    assert codec.encode("t/v1", pa.concat_tables([table.slice(0, 1), table.slice(1)])) == payload


@pytest.mark.parametrize("payload", [None, {}, {"arrow": "!!"}, {"arrow": "AAAA"}, {"arrow": 3}, {"arrow": "", "x": 1}])
def test_a_payload_that_is_no_arrow_table_is_refused(payload: Any) -> None:
    with pytest.raises(IdentityError, match="is no Arrow table"):
        ArrowCodec().decode("t/v1", payload)


def streamed(table: pa.Table, **options: Any) -> bytes:
    """Return the stream of a table, written as whoever wants to do harm would write it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def payload_of(content: bytes) -> Any:
    """Return the payload that a stream is."""
    return {"arrow": base64.b64encode(content).decode()}


ZEROS = pa.table({"n": pa.array([0] * 100_000)})
NOTHING = pa.table({"n": pa.nulls(MOST_FREE_ROWS + 1)})
RUN = pa.table({"n": pa.RunEndEncodedArray.from_arrays(pa.array([2_000_000], pa.int32()), pa.array([7]))})


@pytest.mark.parametrize("how", ["zstd", "lz4"])
@pytest.mark.parametrize("column", [ZEROS["n"], ZEROS["n"].cast(pa.string()).dictionary_encode()])
def test_a_compressed_arrow_stream_is_refused_before_it_is_unfolded(how: str, column: Any) -> None:
    content = streamed(pa.table({"n": column}), compression=how)
    before = pa.total_allocated_bytes()
    with pytest.raises(IdentityError, match="it is compressed; write the stream without compression"):
        ArrowCodec().decode("t/v1", payload_of(content))
    assert pa.total_allocated_bytes() - before < 100_000


NESTED = pa.table({"n": pa.ListArray.from_arrays(pa.array([0, 2_000_000], pa.int32()), pa.nulls(2_000_000))})


@pytest.mark.parametrize("table", [NOTHING, RUN, NESTED], ids=["nulls", "a run", "nulls in a list"])
def test_rows_that_no_bytes_stand_for_are_refused_on_both_ways(table: pa.Table) -> None:
    with pytest.raises(IdentityError, match=r"claims [12],000,00[01] rows in \d+ bytes; at most 1,000,000 are read"):
        ArrowCodec().decode("t/v1", payload_of(streamed(table)))
    with pytest.raises(IdentityError, match="cannot be kept as an Arrow stream"):
        ArrowCodec().encode("t/v1", table)
    few = table.slice(0, 0 if table is NESTED else 1_000)
    assert ArrowCodec().decode("t/v1", ArrowCodec().encode("t/v1", few)).equals(few)


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_arrow_stream_is_refused_or_read_and_nothing_else(data: st.DataObject) -> None:
    content = bytearray(streamed(ZEROS.slice(0, 3)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, len(content))) :]
    with suppress(IdentityError):
        assert ArrowCodec().decode("t/v1", payload_of(bytes(content))).num_columns >= 0
