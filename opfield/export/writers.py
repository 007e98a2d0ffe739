"""One relation's rows into a stream, in each format; or many as tables of a DuckDB file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from opfield.errors import WarehouseError
from opfield.export.batches import batch_rows, equal_batches, settled
from opfield.export.plain import csv_columns, json_lines
from opfield.export.relations import Exported
from opfield.export.wide import quoted
from opfield.warehouse.session import Warehouse

FORMATS: Final = ("parquet", "csv", "jsonl", "arrow", "duckdb")

#: Key of a column's metadata, in Parquet and Arrow, under which the exact name of its metric stands.
METRIC_KEY: Final = b"opfield.metric"

#: Storage of DuckDB files: what the oldest DuckDB that opfield works with reads.
_STORAGE: Final = "v1.5.0"
#: Least size of a DuckDB block: each of a hundred small tables takes one or more.
_BLOCK_BYTES: Final = 16_384

#: Rows that DuckDB is asked for at a time.
_FETCHED: Final = 65_536

#: What DuckDB may take for a table or the wide form, which it sorts on disk where it must; what a view needs depends on
#: its SQL, so that one keeps DuckDB's own limit.
_MEMORY: Final = "1GB"


@dataclass(frozen=True, slots=True)
class Form:
    """How relations are written.

    Attributes:
        format: one of `FORMATS`.
        is_guarded: in CSV, put an apostrophe before text that a spreadsheet would take for a formula.
    """

    format: str
    is_guarded: bool = False


#: Writes batches of rows of a schema into a stream.
Write = Callable[[IO[bytes], pa.Schema, Iterator[pa.RecordBatch], Form], None]


def write_rows(opened: Warehouse, relation: Exported, out: IO[bytes], form: Form) -> int:
    """Write a relation's rows into a stream, in any format but `duckdb`, and return how many there are.

    Raises:
        WarehouseError: where the relation cannot be read.
    """
    rows = 0

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield batch

    with _reading(opened, relation) as con, con.sql(relation.query).to_arrow_reader(_FETCHED) as reader:
        schema = _described(reader.schema, relation)
        renewed = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in reader)
        write_batches(out, schema, counted(renewed), form)
    return rows


def write_batches(out: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch], form: Form) -> None:
    """Write batches of a schema into a stream, in any format but `duckdb`.

    The bytes depend on the rows and their order, not on how the batches divide them.
    """
    _WRITERS[form.format](out, schema, equal_batches(batches, schema, batch_rows(schema)), form)


def write_database(opened: Warehouse, relations: Sequence[Exported], path: Path) -> list[int]:
    """Write relations as the tables of a new DuckDB file, with comments, and return how many rows each has.

    Raises:
        WarehouseError: where a relation cannot be read.
    """
    counts = []
    con = opened.connection(relations[0].query) if relations else opened.connection()
    place = str(path).replace("'", "''")
    con.execute(f"attach '{place}' as exported (storage_version '{_STORAGE}', block_size {_BLOCK_BYTES})")
    try:
        for relation in relations:
            with _reading(opened, relation) as reading:
                table = f"exported.{quoted(relation.name)}"
                reading.execute(f"create table {table} as {relation.query}")
                _comment(reading, f"table {table}", relation.meaning)
                for column, meaning in relation.columns.items():
                    _comment(reading, f"column {table}.{quoted(column)}", meaning)
                for column, metric in relation.metrics.items():
                    _comment(reading, f"column {table}.{quoted(column)}", f"Metric {metric}.")
                counts.append(int(reading.execute(f"select count(*) from {table}").fetchall()[0][0]))
    finally:
        con.execute("detach exported")
    return counts


def _comment(con: duckdb.DuckDBPyConnection, place: str, text: str) -> None:
    escaped = text.replace("'", "''")
    con.execute(f"comment on {place} is '{escaped}'")


@contextmanager
def spilling(opened: Warehouse, folder: Path) -> Generator[None]:
    """Let DuckDB keep what exceeds the memory in a folder below this one; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".opfield-", dir=folder, ignore_cleanup_errors=True) as place:
        opened.connection("from events").execute("set temp_directory = $1", [place])
        yield


@contextmanager
def _reading(opened: Warehouse, relation: Exported) -> Generator[duckdb.DuckDBPyConnection]:
    """Give a connection for a relation's query; what DuckDB says of files that it cannot read becomes an error."""
    try:
        con = opened.connection(relation.query)
        # A time with a zone is told in UTC, wherever it is exported.
        con.execute("set TimeZone = 'UTC'")
        con.execute("set variable wide_metrics = $1::varchar[]", [list(relation.metrics.values())])
        if relation.is_large:
            con.execute(f"set memory_limit = '{_MEMORY}'")
        try:
            yield con
        finally:
            con.execute("reset memory_limit")
    except duckdb.InterruptException:
        raise
    except (duckdb.Error, pa.ArrowException) as error:
        raise WarehouseError(
            f"{relation.name} cannot be exported: {error}; where a campaign was just sealed, say it again, and "
            "`opfield audit` tells whether a file is damaged"
        ) from error


def _described(schema: pa.Schema, relation: Exported) -> pa.Schema:
    """Return a schema whose columns of metrics bear the metric's exact name."""
    return pa.schema(
        [
            column.with_metadata({METRIC_KEY: relation.metrics[column.name].encode()})
            if column.name in relation.metrics
            else column
            for column in schema
        ]
    )


def _write_parquet(out: IO[bytes], schema: pa.Schema, batches: Iterator[pa.RecordBatch], _form: Form) -> None:
    with pa.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=len(batch))


def _write_arrow(out: IO[bytes], schema: pa.Schema, batches: Iterator[pa.RecordBatch], _form: Form) -> None:
    with pa.ipc.new_file(out, schema) as writer:
        for batch in batches:
            writer.write_batch(settled(batch))


def _write_csv(out: IO[bytes], schema: pa.Schema, batches: Iterator[pa.RecordBatch], form: Form) -> None:
    # Text is always in quotation marks, so that an empty one differs from NULL, which is nothing at all.
    options = pa.csv.WriteOptions(quoting_style="needed")
    no_rows = pa.RecordBatch.from_arrays([pa.array([], column.type) for column in schema], schema=schema)
    first = csv_columns(no_rows, is_guarded=form.is_guarded)
    with pa.csv.CSVWriter(out, first.schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(csv_columns(batch, is_guarded=form.is_guarded))


def _write_jsonl(out: IO[bytes], _schema: pa.Schema, batches: Iterator[pa.RecordBatch], _form: Form) -> None:
    for batch in batches:
        out.writelines(json_lines(batch))


_WRITERS: Final[Mapping[str, Write]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}
