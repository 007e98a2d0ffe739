"""Codecs: what is written is read back, and nothing else is read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import seal
from opfield.errors import IdentityError
from opfield.plugin import ArrowCodec, JsonCodec, TypeCodec
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
