"""Whatever a file holds ends in records, a refusal or an error that names the file; never in a traceback."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from opfield.ingest.readers.table import reader
from opfield.ingest.records import IngestError, Record, Refused, Sample
from tests.ingest.reading import SHARED, needs_shared, only, read

TABLE = pa.table({"id": list(range(3000)), "s": [0.5] * 3000, "t": [f"text {n}" * 9 for n in range(3000)]})


def _read(path: Path) -> list[Record]:
    return read(reader, path, metrics=("s",), case=("id",))


def _parquet(path: Path) -> None:
    pq.write_table(TABLE, path)


def _arrow(path: Path) -> None:
    pyarrow.feather.write_feather(TABLE, path, compression="uncompressed")


def _stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)


def _jsonl(path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))


def _json(path: Path) -> None:
    path.write_text(json.dumps(TABLE.to_pylist()))


def _packed(path: Path) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode()))


WRITERS: dict[str, Callable[[Path], None]] = {
    "r.parquet": _parquet, "r.arrow": _arrow, "r.arrows": _stream, "r.jsonl": _jsonl, "r.json": _json,
    "r.jsonl.gz": _packed,
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("share", [0.001, 0.5, 0.9, 0.99])
def test_a_cut_file_is_refused_by_name(tmp_path: Path, name: str, share: float) -> None:
    WRITERS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(IngestError, match=name):
        _read(tmp_path / name)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_file_gives_records_or_an_error_that_names_it(tmp_path: Path, name: str, seed: int) -> None:
    WRITERS[name](tmp_path / name)
    content = bytearray((tmp_path / name).read_bytes())
    dice = random.Random(seed)
    for _ in range(1 + seed):
        content[dice.randrange(len(content))] = dice.randrange(256)
    (tmp_path / name).write_bytes(content)
    told = ""
    try:
        _read(tmp_path / name)
    except IngestError as error:
        told = str(error)
    assert not told or name in told


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.parquet", b"", "is empty"),
        ("r.jsonl", b"\n\n", "is empty"),
        ("r.parquet", b"id,s\n1,2\n", "does not begin as a .parquet file does"),
        ("r.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
        ("r.parquet", b"PARE and no more", "is encrypted"),
        ("r.feather", b"FEA1 and no more", "is Feather version 1"),
        ("r.xlsx", b"PK\x03\x04rest", "export the sheet as CSV"),
        ("r.csv.zst", b"\x28\xb5\x2f\xfdrest", "is compressed with zstandard"),
        ("r.db", b"SQLite format 3\0", "is a SQLite database"),
        ("r.dat", b"hello", "is no table by its first bytes or its name"),
        ("r.json", b'{\n "id": 1\n}', "is one JSON object over many lines"),
        ("r.json", b'[{"id": 1, "s": 2,}, {"id": 2}]', "is not JSON"),
        ("r.json", b'[{"id": 1, "s": 2}', "is cut off"),
        ("r.jsonl", b'{"id": 1, "s": 2}\n{"id": 1, "s": \n', "r.jsonl: line 2 is cut off"),
        ("r.jsonl", b'{"id": "\xe9"}\n', "is not UTF-8"),
        ("r.jsonl", b'{"id": ' + b"[" * 100_000 + b"\n", "nests too deep"),
    ],
)
def test_what_is_no_table_is_refused_with_what_it_is(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestError, match=told) as caught:
        _read(tmp_path / name)
    assert name in str(caught.value)


def test_a_folder_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for path, told in ((tmp_path, "is a folder"), (tmp_path / "no.csv", "is not there")):
        with pytest.raises(IngestError, match=told):
            _read(path)


@pytest.mark.parametrize("line", ["3", '"text"', "null", "true", "0.5"])
def test_a_line_that_is_no_object_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    (tmp_path / "r.jsonl").write_text(f'{{"id": 1, "s": 2}}\n{line}\n')
    records = _read(tmp_path / "r.jsonl")
    assert [refused.place for refused in only(Refused, records)] == ["r.jsonl: line 2"]
    assert len(only(Sample, records)) == 1


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["id", "s", "s"])
    pq.write_table(table, tmp_path / "r.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "r.arrow")
    for name in ("r.parquet", "r.arrow"):
        with pytest.raises(IngestError, match="two columns of the name 's'"):
            _read(tmp_path / name)


def test_what_an_arrow_file_says_of_its_own_buffers_is_not_trusted(tmp_path: Path) -> None:
    offsets = pa.array([0, 4, 2], pa.int32()).buffers()[1]
    texts = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abcd"))
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([1, 2]), texts], names=["id", "s", "t"])
    with pa.OSFile(str(tmp_path / "r.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(IngestError, match=r"r\.arrow cannot be read as Arrow after row 0"):
        _read(tmp_path / "r.arrow")


def test_a_file_name_like_a_partition_gives_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "model=x"
    folder.mkdir()
    _parquet(folder / "id=7.parquet")
    assert [sample.case.key for sample in only(Sample, _read(folder / "id=7.parquet"))] == list(range(3000))


def test_paths_inside_ids_are_ids(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s\n../../etc/passwd,1\n/abs,1\n")
    assert [sample.case.key for sample in only(Sample, _read(tmp_path / "r.csv"))] == ["../../etc/passwd", "/abs"]


def test_not_finite_numbers_of_json_are_kept_as_their_names(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": 1, "s": NaN, "more": [Infinity, {"a": -Infinity}]}\n')
    (sample,) = only(Sample, _read(tmp_path / "r.jsonl"))
    assert sample.missing == {"s": "not_finite"}
    assert json.loads(json.dumps(sample.content, allow_nan=False)) == {
        "id": 1,
        "s": "nan",
        "more": ["inf", {"a": "-inf"}],
    }


def test_lone_surrogates_and_nul_in_texts_do_not_stop_a_row(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "x", "s": 1, "t": "a\\u0000b", "u": "\\ud800"}\n')
    (sample,) = only(Sample, _read(tmp_path / "r.jsonl"))
    assert sample.content == {"id": "x", "s": 1, "t": "a\0b", "u": "\ufffd"}


@pytest.mark.parametrize("role", ["case", "repeat", "suite", "candidate", "group"])
@pytest.mark.parametrize("key", ["k\ud800", "x" * 2000, "a\0b", "ä" * 600, float("inf"), 10**400])
def test_an_id_that_may_stand_for_two_is_refused_with_its_line(tmp_path: Path, role: str, key: object) -> None:
    rows = [{"id": "a", "s": 1, "role": "fine"}, {"id": "b", "s": 1, "role": key}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"case": ("id",)} | {role: ("role",) if role in ("case", "group") else "role"}
    (refused,) = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), **options))
    assert refused.place == "r.jsonl: line 2"
    assert len(refused.reason) < 200


def test_a_joined_key_that_is_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps({"id": "a" * 600, "b": "b" * 600, "s": 1}) + "\n")
    (refused,) = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id", "b")))
    assert refused.place == "r.jsonl: line 1"
    assert "at most 1024" in refused.reason


@pytest.mark.parametrize("name", ["r.jsonl", "r.json"])
@pytest.mark.parametrize("depth", [90, 300, 480, 900, 2000, 5000])
@pytest.mark.parametrize("is_long", [False, True])
def test_a_row_that_nests_deep_is_read_or_refused(tmp_path: Path, name: str, depth: int, is_long: bool) -> None:
    row = '{"id": "a", "s": 1, "m": "x", "deep": ' + '{"a":[' * (depth // 2) + "]}" * (depth // 2) + "}"
    (tmp_path / name).write_text(row + "\n" if name == "r.jsonl" else f"[{row}]")
    how = {"metric-column": "m", "value-column": "s"} if is_long else {}
    records, failed = list[Record](), ""
    try:
        records = read(reader, tmp_path / name, metrics=() if is_long else ("s",), case=("id",), **how)
    except IngestError as error:
        failed = str(error)
    if failed:
        assert "nests too deep" in failed
    else:
        told = [record.reason for record in only(Refused, records)]
        assert len(only(Sample, records)) == 1 or told == ["the row nests too deep to be a result"]


def test_values_of_all_arrow_types_become_json(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": ["a"],
            "s": [1],
            "bytes": [b"\xff"],
            "list": [[1.5, None, float("nan")]],
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "dec": pa.array([1], pa.decimal128(5, 2)),
            "dur": pa.array([1500], pa.duration("ms")),
            "time": pa.array([1], pa.time64("ns")),
            "ts": pa.array([0], pa.timestamp("us", "UTC")),
            "null": pa.nulls(1),
            "half": pa.array([1.5], pa.float16()),
        }
    )
    pq.write_table(table, tmp_path / "r.parquet")
    (sample,) = only(Sample, _read(tmp_path / "r.parquet"))
    assert json.loads(json.dumps(sample.content, allow_nan=False)) == {
        "bytes": "/w==",
        "list": [1.5, None, "nan"],
        "map": [["k", 1]],
        "dec": "1.00",
        "dur": 1.5,
        "time": "00:00:00",
        "ts": "1970-01-01T00:00:00+00:00",
        "null": None,
        "half": 1.5,
    }


@needs_shared
def test_no_public_file_ends_in_a_traceback() -> None:
    paths = [path for path in sorted(SHARED.rglob("*")) if path.is_file()]
    assert paths
    told = {}
    for path in paths:
        try:
            read(reader, path, metrics=("score",), case=("id",))
        except IngestError as error:
            told[path.name] = str(error)
    assert told
    assert all(name in message for name, message in told.items())
