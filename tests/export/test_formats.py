"""Every format keeps what it is given: written, read back by another library, the same rows and types."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opfield.export.batches import equal_batches
from opfield.export.writers import Form, write_batches

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
ODD = st.sampled_from(["", " ", "NULL", '"', "\n", "\r\n", ",", "'", "=1+1", 'a,b\n"c"', "é🎯", "\\N"])
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1))
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), TEXT | ODD),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "huge": (pa.decimal128(38, 0), st.integers(-(10**37), 10**37).map(Decimal)),
    "money": (pa.decimal128(12, 2), st.integers(-(10**9), 10**9).map(lambda cents: Decimal(cents) / 100)),
    "number": (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    "is": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates(date(1970, 1, 1), date(2200, 1, 1))),
    "at": (pa.timestamp("us"), MOMENTS),
    "at_utc": (pa.timestamp("us", tz="UTC"), MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
    "bytes": (pa.binary(), st.binary(max_size=5)),
    "texts": (pa.list_(pa.string()), st.lists(TEXT | ODD | st.none(), max_size=3)),
    "groups": (pa.map_(pa.string(), pa.int64()), st.dictionaries(TEXT, st.integers(0, 9), max_size=2)),
    "pair": (pa.struct([("low", pa.float64()), ("why", pa.string())]), st.fixed_dictionaries(
        {"low": st.floats(-1e300, 1e300) | st.none(), "why": TEXT | st.none()}
    )),
}  # fmt: skip
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])
#: Digits that no double holds, and texts that CSV could take for nothing.
EXACT = dict.fromkeys(COLUMNS) | {
    "whole": 2**63 - 1,
    "huge": Decimal(12345678901234567890123456789012345678),
    "money": Decimal("1.10"),
    "number": 0.1 + 0.2,
    "text": "",
    "texts": [""],
}
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()}), max_size=6)


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    given_rows = [{**row, "groups": None if row["groups"] is None else list(row["groups"].items())} for row in rows]
    return pa.Table.from_pylist(given_rows, SCHEMA)


def written(table: pa.Table, form: Form, rows_at_once: int = 100) -> bytes:
    out = io.BytesIO()
    write_batches(out, table.schema, table.to_batches(max_chunksize=rows_at_once), form)
    return out.getvalue()


@settings(max_examples=20)
@example([EXACT, dict.fromkeys(COLUMNS)])
@given(ROWS)
def test_parquet_and_arrow_keep_values_and_types(rows: list[dict[str, Any]]) -> None:
    table = table_of(rows)
    assert pa.parquet.read_table(io.BytesIO(written(table, Form("parquet")))).equals(table)
    assert pa.ipc.open_file(io.BytesIO(written(table, Form("arrow")))).read_all().equals(table)


@settings(max_examples=20)
@example([EXACT, dict.fromkeys(COLUMNS)])
@given(ROWS)
def test_json_lines_keep_every_digit(rows: list[dict[str, Any]]) -> None:
    lines = written(table_of(rows), Form("jsonl")).split(b"\n")
    assert lines.pop() == b""
    read = [json.loads(line, parse_float=Decimal) for line in lines]
    assert len(read) == len(rows)
    for row, told in zip(rows, read, strict=True):
        assert list(told) == list(COLUMNS)
        for name in ("text", "whole", "is", "texts", "groups"):
            assert told[name] == row[name]
        for name in ("huge", "money"):
            assert (told[name] is None) == (row[name] is None)
            assert row[name] is None or Decimal(told[name]) == row[name]
        for number, exact in (
            (told["number"], row["number"]),
            ((told["pair"] or {}).get("low"), (row["pair"] or {}).get("low")),
        ):
            assert (number is None) == (exact is None)
            assert exact is None or float(str(number)) == exact
        for name in ("at", "at_utc", "day"):
            kind = date if name == "day" else datetime
            assert row[name] is None or kind.fromisoformat(told[name]) == row[name]
        assert row["bytes"] is None or base64.b64decode(told["bytes"]) == row["bytes"]


@settings(max_examples=20)
@example([EXACT, dict.fromkeys(COLUMNS)])
@given(ROWS)
def test_csv_tells_null_from_empty_text_and_keeps_every_digit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_bytes(written(table_of(rows), Form("csv")))
    with duckdb.connect() as con:
        found = con.execute(
            "from read_csv($1, header = true, allow_quoted_nulls = false, strict_mode = true, auto_detect = false, "
            "delim = ',', quote = '\"', escape = '\"', new_line = '\\n', "
            "columns = {'text': 'varchar', 'whole': 'bigint', "
            "'huge': 'hugeint', 'money': 'decimal(12, 2)', 'number': 'double', 'is': 'boolean', 'day': 'date', "
            "'at': 'timestamp', 'at_utc': 'timestamptz', 'bytes': 'varchar', 'texts': 'varchar', "
            "'groups': 'varchar', 'pair': 'varchar'})",
            [str(path)],
        ).fetchall()
    assert len(found) == len(rows)
    for row, values in zip(rows, found, strict=True):
        told = dict(zip(COLUMNS, values, strict=True))
        for name in ("text", "whole", "huge", "money", "number", "is", "day", "at", "at_utc"):
            assert told[name] == row[name], name
        for name in ("texts", "groups", "pair"):
            assert (None if told[name] is None else json.loads(told[name])) == row[name]
        assert row["bytes"] is None or base64.b64decode(told["bytes"]) == row["bytes"]


@settings(max_examples=15)
@given(ROWS, st.integers(1, 4))
def test_the_bytes_do_not_depend_on_how_rows_came(rows: list[dict[str, Any]], rows_at_once: int) -> None:
    for format in ("parquet", "arrow", "csv", "jsonl"):
        table = table_of(rows)
        assert written(table, Form(format)) == written(table, Form(format), rows_at_once)


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us"), pa.date32(), pa.decimal128(30, 2)]
)
def test_what_stands_under_a_null_does_not_reach_an_arrow_file(kind: pa.DataType) -> None:
    is_there = pa.array([True, False, True]).buffers()[1]
    files = set()
    for junk in (0, 1):
        values = pa.array([1, junk, 1], pa.int32() if kind == pa.date32() else pa.int64())
        values = values.cast(pa.bool_() if kind == pa.bool_() else kind)
        column = pa.Array.from_buffers(kind, 3, [is_there, values.buffers()[1]])
        files.add(written(pa.table({"column": column}), Form("arrow")))
    assert len(files) == 1


@given(st.lists(st.integers(0, 5)), st.integers(1, 7))
def test_batches_are_equal_whatever_they_were(lengths: list[int], rows: int) -> None:
    values = list(range(sum(lengths)))
    schema = pa.schema([("n", pa.int64())])
    start, batches = 0, []
    for length in lengths:
        batches.append(pa.record_batch([pa.array(values[start : start + length], pa.int64())], schema=schema))
        start += length
    cut = [batch["n"].to_pylist() for batch in equal_batches(batches, schema, rows)]
    assert cut == [values[at : at + rows] for at in range(0, len(values), rows)]


def test_numbers_that_are_not_finite_are_text_in_json() -> None:
    table = pa.table({"n": [float("nan"), float("inf"), float("-inf"), 1.5, None]})
    lines = written(table, Form("jsonl")).splitlines()
    assert [json.loads(line)["n"] for line in lines] == ["NaN", "Infinity", "-Infinity", 1.5, None]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_a_formula_is_raw_unless_it_is_to_be_guarded(tmp_path: Path, text: str) -> None:
    table = pa.table({text: [text, f"a{text}", None, ""], "n": pa.array([-1, 0, 1, None])})
    for is_guarded, expected in ((False, text), (True, f"'{text}")):
        path = tmp_path / "rows.csv"
        path.write_bytes(written(table, Form("csv", is_guarded)))
        with duckdb.connect() as con:
            rows = con.execute(
                "from read_csv($1, header = false, auto_detect = false, allow_quoted_nulls = false, delim = ',', "
                "quote = '\"', escape = '\"', new_line = '\\n', columns = {'a': 'varchar', 'b': 'varchar'})",
                [str(path)],
            ).fetchall()
        # Numbers are numbers in any case.
        assert rows == [(expected, "n"), (expected, "-1"), (f"a{text}", "0"), (None, "1"), ("", None)]
