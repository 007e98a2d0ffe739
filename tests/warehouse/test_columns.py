"""Columns built without pandas: what `pyarrow.array` would have built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.warehouse.columns import column_of, empty_table, table_of

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])),
    pa.binary(): st.binary(),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.timestamp("us"): st.datetimes(),
    pa.list_(pa.string()): st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=3),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
}


@pytest.mark.parametrize("type", VALUES, ids=str)
@given(data=st.data())
def test_a_column_is_what_arrow_makes_of_the_values(type: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[type], max_size=40))
    found = column_of(values, type)
    found.validate(full=True)
    assert found.equals(pa.array(values, type))
    assert found.to_pylist() == values


@pytest.mark.parametrize(
    ("values", "type"),
    [
        ([1, 2.5], pa.int64()),
        ([2**63], pa.int64()),
        ([2**31], pa.int32()),
        (["1"], pa.int64()),
        ([1], pa.string()),
        (["\ud800"], pa.string()),
        (["text"], pa.binary()),
        ([1], pa.binary()),
        (["2026-01-01"], pa.timestamp("us")),
        ([datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("us")),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused(values: Sequence[Any], type: pa.DataType) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError, AttributeError, pa.ArrowInvalid)):
        column_of(values, type)


def test_a_table_has_the_columns_of_its_schema() -> None:
    schema = pa.schema([pa.field("n", pa.int32(), nullable=False), ("text", pa.string())])
    found = table_of({"text": ["a", None], "n": [1, 2]}, schema)
    assert found.schema == schema
    assert found.to_pylist() == [{"n": 1, "text": "a"}, {"n": 2, "text": None}]
    assert empty_table(schema).equals(schema.empty_table())


def test_pandas_is_not_loaded() -> None:
    asking = (
        "import sys, pyarrow as pa\n"
        "from opfield.warehouse.columns import *\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        assert name != 'pandas'\n"
        "sys.meta_path.insert(0, Finder())\n"
        "schema = pa.schema([('n', pa.int64()), ('text', pa.string())])\n"
        "assert table_of({'n': [1, None], 'text': ['a', None]}, schema).num_rows == 2\n"
        "assert empty_table(schema).num_rows == 0\n"
    )
    subprocess.run([sys.executable, "-c", asking], check=True)
