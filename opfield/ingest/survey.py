"""What readers make of files, one file at a time: a look before an intake, and at what it would refuse."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb

from opfield.errors import OpfieldError
from opfield.ingest.records import IngestError, Reader, Reading, Source
from opfield.ingest.sources import check_named, is_warehouse, name_of, shown_name
from opfield.ingest.spool import Spool, Told, spooled


@dataclass(frozen=True, slots=True)
class Finding:
    """What one reader makes of one file.

    Attributes:
        file: name of the file below the folder that was named.
        reader: the reader; None where none recognizes the file.
        systems: systems in it.
        samples: samples in it.
        cases: cases that have a sample or are declared.
        repeats: most samples of one case of one system.
        metrics: names of its metrics.
        failures: number of samples by status and code, without those that succeeded.
        missing: declared trials without a sample.
        notes: what the reader says beside.
        refused: what stands in the way, each with its place; empty where the file can be taken in.
    """

    file: str
    reader: str | None
    systems: int = 0
    samples: int = 0
    cases: int = 0
    repeats: int = 0
    metrics: tuple[str, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def survey(
    paths: Sequence[Path],
    readers: Sequence[Reader],
    options: Mapping[str, Mapping[str, Any]],
    metrics: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """Yield what readers make of each file, in the order of names; a folder that is one log counts as one file.

    What cannot be looked at, such as a link to nothing, is a finding that says so.

    Args:
        paths: files, and folders to look through.
        readers: readers to try, in order; of several that recognize a file each says what it makes of it.
        options: by reader, the value of each of its options.
        metrics: metrics to ask readers for; empty for what they find.
    """
    for path in paths:
        for source in _sources(path, name_of(path), readers):
            if isinstance(source, Finding):
                yield source
                continue
            knowing = [reader for reader in readers if reader.recognizes(source.path)]
            taking = [reader for reader in knowing if not reader.is_general] or knowing
            if not taking:
                yield Finding(source.name, None)
            for reader in taking:
                yield look(source, reader, Reading([source], options[reader.name], metrics))


def look(source: Source, reader: Reader, reading: Reading) -> Finding:
    """Return what a reader makes of a file that it is asked to read."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        refused: list[str] = []
        with Spool(folder) as spool:
            try:
                for record in reader.read(reading):
                    spool.take(record)
            except OpfieldError as error:
                refused.append(str(error))
        told = spool.told
        refused += [f"{each.place}: {each.reason}; {each.remedy}" for each in told.refused]
        return _finding(source, reader, told, folder, tuple(refused))


def _finding(source: Source, reader: Reader, told: Told, folder: Path, refused: tuple[str, ...]) -> Finding:
    with closing(duckdb.connect()) as con:
        spooled(con, folder)
        sql = files("opfield.ingest").joinpath("sql", "survey.sql").read_text("utf-8")
        counted = con.execute(sql)
        names = [column[0] for column in counted.description or ()]
        row = dict(zip(names, counted.fetchall()[0], strict=True))
    return Finding(
        source.name,
        reader.name,
        systems=len(told.systems),
        metrics=tuple(each.metric.name for each in told.metrics),
        notes=tuple(each.text for each in told.notes),
        refused=refused,
        samples=row["samples"],
        cases=row["cases"],
        repeats=row["repeats"],
        failures=dict(row["failures"] or {}),
        missing=row["missing"],
    )


def _sources(path: Path, name: str, readers: Sequence[Reader]) -> Iterator[Source | Finding]:
    """Yield files, and findings of what is none: one bad name must not end the look at all others."""
    try:
        check_named(path)
        if not path.is_dir() or any(reader.recognizes(path) for reader in readers):
            yield Source(path, name)
            return
        if is_warehouse(path):
            yield Finding(name, None, notes=("it is a warehouse, whose records are taken in already",))
            return
        entries = sorted(path.iterdir())
    except IngestError as error:
        yield Finding(name, None, refused=(str(error),))
        return
    except OSError as error:
        yield Finding(name, None, refused=(f"{name} cannot be read: {error.strerror}; mend its permissions",))
        return
    for entry in entries:
        if not entry.name.startswith(".") and not (entry.is_dir() and entry.is_symlink()):
            yield from _sources(entry, f"{name}/{shown_name(entry.name)}", readers)
