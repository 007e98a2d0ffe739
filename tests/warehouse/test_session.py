from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opfield.errors import OpfieldError, WarehouseError
from opfield.warehouse import reading
from opfield.warehouse.session import read_rows


@contextmanager
def exchanged(path: Path, contents: tuple[bytes, ...]) -> Iterator[None]:
    """Exchange a file's content again and again, each time as a whole, as a seal does."""
    over = threading.Event()

    def exchange() -> None:
        turn = 0
        while not over.is_set():
            other = path.with_suffix(".part")
            other.write_bytes(contents[turn % len(contents)])
            os.replace(other, path)
            turn += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def parquet(rows: int) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"payload": [str(row) * 50 for row in range(rows)]}), sink)
    return bytes(sink.getvalue())


def test_a_file_exchanged_under_a_scan_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PAUSE_S", 0.001)
    monkeypatch.setattr(reading, "_RETRIES", 50)
    small, large = parquet(20), parquet(3000)
    files = [tmp_path / f"{name}.parquet" for name in "abcd"]
    for file in files:
        file.write_bytes(small)
    query = f"select count(*) as n, count(distinct payload) as seen from read_parquet({[str(each) for each in files]})"
    with exchanged(files[2], (small, large)):
        for _ in range(400):
            with duckdb.connect() as con:
                assert read_rows(con, query) in ([{"n": 80, "seen": 20}], [{"n": 3060, "seen": 3000}])


def test_a_damaged_file_is_told_from_a_wrong_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PAUSE_S", 0)
    damaged = tmp_path / "a.parquet"
    content = parquet(3000)
    damaged.write_bytes(content[:4] + b"\xff" * 64 + content[68:])
    with duckdb.connect() as con:
        with pytest.raises(WarehouseError, match="opfield audit"):
            read_rows(con, f"select count(distinct payload) from read_parquet('{damaged}')")
        with pytest.raises(OpfieldError, match="payloads"):
            read_rows(con, "select payloads from (select 1 as payload)")
