"""Rows written as a table, in each format that is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    pl.DataFrame(rows).write_csv(path)


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(rows, indent=1))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_feather(path: Path, rows: list[dict[str, Any]]) -> None:
    pyarrow.feather.write_feather(pa.Table.from_pylist(rows), path)


def write_stream(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


FORMATS = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "json": write_json,
    "parquet": write_parquet,
    "feather": write_feather,
    "arrows": write_stream,
}
