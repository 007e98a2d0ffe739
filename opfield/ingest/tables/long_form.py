"""The long form: rows of one cell, wherever they stand, become one sample; what does not fit in memory is spilled."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from opfield.core import Failure, MissingReason, Status
from opfield.ingest.records import CaseRef, IngestError, Refused, Sample

#: A row is found by where it begins in the file of rows, and how long it is; the keys alone are sorted.
_SCHEMA: Final = pa.schema([("cell", pa.string()), ("start", pa.int64()), ("size", pa.int64())])
_FLUSH_ROWS: Final = 50_000
_MEMBERS: Final = tuple(item.name for item in dataclasses.fields(Sample) if item.name not in ("case", "failure"))
_MEMORY: Final = "500MB"
#: Rows of one cell stand together, and cells in the order in which each was first met.
_GROUPED: Final = """
    with rows as (select cell, start, size from read_parquet($path, hive_partitioning = false)),
    firsts as (select cell, min(start) as first from rows group by cell)
    select firsts.first, rows.start, rows.size
    from rows inner join firsts using (cell)
    order by firsts.first, rows.start
"""
#: What the rows of a cell must agree on, with the words for it.
_AGREED: Final = {
    "input": "input", "cluster": "cluster", "cost_usd": "cost", "input_tokens": "input tokens",
    "output_tokens": "output tokens", "duration_s": "duration", "started_at": "start", "finished_at": "end",
}  # fmt: skip

Value = TypeVar("Value")


class Spill:
    """Keeps samples of single rows in a temporary folder and gives them back cell by cell."""

    def __init__(self) -> None:
        """Make the folder; it vanishes with the context."""
        self._folder = tempfile.TemporaryDirectory(prefix="opfield-")
        self._path = Path(self._folder.name) / "keys.parquet"
        self._writer = pq.ParquetWriter(self._path, _SCHEMA, compression="lz4")
        self._bodies = (Path(self._folder.name) / "rows").open("w+b")
        self._keys: list[tuple[str, int, int]] = []
        self._end = 0

    def __enter__(self) -> Spill:
        """Return the spill itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder."""
        self._writer.close()
        self._bodies.close()
        self._folder.cleanup()

    def add(self, sample: Sample) -> None:
        """Keep the sample of one row.

        Raises:
            IngestError: where there is no room for the temporary files.
        """
        cell = json.dumps([sample.system, sample.case.suite, sample.case.key, sample.repeat])
        body = _packed(sample)
        self._keys.append((cell, self._end, len(body)))
        self._end += len(body)
        try:
            self._bodies.write(body)
            if len(self._keys) >= _FLUSH_ROWS:
                self._flush()
        except OSError as error:
            raise _no_room(error) from None

    def cells(self) -> Iterator[list[Sample]]:
        """Yield the samples of each cell, in the order in which they were added.

        Raises:
            IngestError: where there is no room for the temporary files.
        """
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(Path(self._folder.name) / "sort"),
            "memory_limit": _MEMORY,
            "threads": 2,
        }
        try:
            self._flush()
            self._bodies.flush()
            self._writer.close()
            with duckdb.connect(":memory:", config=settings) as connection:
                result = connection.execute(_GROUPED, {"path": str(self._path)})
                current, parts = None, list[Sample]()
                while fetched := result.fetchmany(1000):
                    for first, start, size in fetched:
                        if first != current and parts:
                            yield parts
                            parts = []
                        current = first
                        parts.append(_unpacked(os.pread(self._bodies.fileno(), size, start)))
                if parts:
                    yield parts
        except (duckdb.Error, OSError) as error:
            raise _no_room(error) from None

    def _flush(self) -> None:
        if self._keys:
            columns = [list(column) for column in zip(*self._keys, strict=True)]
            self._writer.write_table(pa.table(columns, schema=_SCHEMA))
            self._keys = []


def _no_room(error: Exception) -> IngestError:
    told = " ".join(str(error).split())[:200]
    return IngestError(
        f"rows cannot be sorted in the temporary folder ({told}); make room there, or point TMPDIR elsewhere"
    )


def merged(parts: list[Sample]) -> Iterator[Sample | Refused]:
    """Yield the sample of a cell's rows; as many as each of its metrics stands, where all stand equally often.

    A failure of one row is the cell's. What else the rows say of the cell must agree.

    Args:
        parts: samples of the single rows of one cell, each with at most one metric.
    """
    rounds: list[list[Sample]] = []
    places: dict[str, list[str]] = {}
    for part in parts:
        metric = next(iter({**part.values, **part.missing}), None)
        # A row of a metric that was not asked for tells of the cell still.
        seen = [part.place] if metric is None else places.setdefault(metric, [])
        if metric is not None:
            seen.append(part.place)
        if len(seen) > len(rounds):
            rounds.append([])
        rounds[len(seen) - 1].append(part)
    for metric, seen in places.items():
        if len(seen) > min(map(len, places.values())):
            yield Refused(
                seen[1],
                f"metric {metric!r} of this cell stands at {seen[0]} already",
                "leave one of the two out, or name the column that numbers repeats with --repeat",
            )
            return
    for together in rounds:
        try:
            yield _one(together)
        except _DisagreeError as error:
            yield error.refused


class _DisagreeError(Exception):
    def __init__(self, what: str, first: Sample, other: Sample) -> None:
        super().__init__(what)
        self.refused = Refused(
            other.place,
            f"the {what} of this cell differs from that at {first.place}",
            f"mend the {what} so that the rows of a cell agree, or do not name its column",
        )


def _one(parts: list[Sample]) -> Sample:
    first = parts[0]
    failed = _agreed(parts, "status", [None if part.status is Status.SUCCESS else part.status for part in parts])
    failure = next((part.failure for part in parts if part.failure is not None), None)
    agreed: dict[str, Any] = {
        name: _agreed(parts, what, [getattr(part, name) for part in parts]) for name, what in _AGREED.items()
    }
    contents = [part.content for part in parts if part.content is not None]
    return dataclasses.replace(
        first,
        values={name: value for part in parts for name, value in part.values.items()},
        missing={name: reason for part in parts for name, reason in part.missing.items()},
        status=failed or Status.SUCCESS,
        failure=failure,
        groups=_agreed(parts, "group", [part.groups or None for part in parts]) or {},
        content=contents or None,
        **agreed,
    )


def _agreed(parts: list[Sample], what: str, values: list[Value | None]) -> Value | None:
    stated = [(part, value) for part, value in zip(parts, values, strict=True) if value is not None]
    for part, value in stated:
        if value != stated[0][1]:
            raise _DisagreeError(what, stated[0][0], part)
    return stated[0][1] if stated else None


def _packed(sample: Sample) -> bytes:
    failure = sample.failure
    told = None if failure is None else [failure.code, failure.message, failure.is_retryable]
    case = [sample.case.key, sample.case.suite]
    return json.dumps([case, told, *(getattr(sample, name) for name in _MEMBERS)]).encode()


def _unpacked(body: bytes) -> Sample:
    case, told, *rest = json.loads(body)
    members: dict[str, Any] = dict(zip(_MEMBERS, rest, strict=True))
    members["status"] = Status(members["status"])
    members["missing"] = {name: MissingReason(reason) for name, reason in members["missing"].items()}
    return Sample(case=CaseRef(*case), failure=None if told is None else Failure(*told), **members)
