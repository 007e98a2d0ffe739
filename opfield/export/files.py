"""Files of exported relations: each written whole under another name first, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from opfield.errors import UnknownNameError, unknown_name
from opfield.export.relations import Exported, exported
from opfield.export.replacing import checked_target, replacing
from opfield.export.writers import Form, write_database, write_rows
from opfield.warehouse.session import Warehouse

#: Format by the ending of a file's name.
ENDINGS: Final[Mapping[str, str]] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".duckdb": "duckdb",
    ".db": "duckdb",
}
#: Formats that can be written into a pipe.
TEXT_FORMATS: Final = ("csv", "jsonl")


@dataclass(frozen=True, slots=True)
class Written:
    """One relation that was written.

    Attributes:
        relation: its name.
        path: file that holds it; None where it went to a stream.
        rows: how many rows it has.
        renamed: column to the metric that it holds, where the names differ.
    """

    relation: str
    path: Path | None
    rows: int
    renamed: Mapping[str, str]


def format_of(path: Path) -> str:
    """Return the format that the ending of a file's name stands for.

    Raises:
        UnknownNameError: listing the known endings.
    """
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        raise UnknownNameError(
            f"{path.name!r} does not say its format; end it with one of {', '.join(ENDINGS)}, or give --format"
        )
    return found


def export_file(opened: Warehouse, names: Sequence[str], path: Path, form: Form) -> list[Written]:
    """Write relations into one file: a single one, or in the format `duckdb` any number, each as a table.

    Raises:
        UnknownNameError: for an unknown relation.
        WarehouseError: where the file cannot be written, or the warehouse not be read; nothing was written then.
    """
    target = checked_target(path, opened.root)
    relations = [exported(opened, name) for name in names]
    with replacing([target]) as (temporary,):
        if form.format == "duckdb":
            rows = write_database(opened, relations, temporary)
        else:
            (relation,) = relations
            with temporary.open("wb") as out:
                rows = [write_rows(opened, relation, out, form)]
    return [_written(relation, path, count) for relation, count in zip(relations, rows, strict=True)]


def export_folder(opened: Warehouse, names: Sequence[str], folder: Path, form: Form) -> list[Written]:
    """Write each relation into a file of its own in a folder; none takes its name before all are written.

    Raises:
        UnknownNameError: for an unknown relation.
        WarehouseError: where the files cannot be written, or the warehouse not be read; nothing was written then.
    """
    paths = [folder / f"{name}.{form.format}" for name in names]
    targets = [checked_target(path, opened.root) for path in paths]
    relations = [exported(opened, name) for name in names]
    rows = []
    with replacing(targets) as temporaries:
        for relation, temporary in zip(relations, temporaries, strict=True):
            with temporary.open("wb") as out:
                rows.append(write_rows(opened, relation, out, form))
    return [_written(*each) for each in zip(relations, paths, rows, strict=True)]


def export_stream(opened: Warehouse, name: str, out: IO[bytes], form: Form) -> Written:
    """Write a relation into a stream, in one of `TEXT_FORMATS`.

    Raises:
        UnknownNameError: for an unknown relation or another format.
        WarehouseError: where the warehouse cannot be read.
    """
    if form.format not in TEXT_FORMATS:
        raise unknown_name("format for a stream", form.format, TEXT_FORMATS)
    relation = exported(opened, name)
    return _written(relation, None, write_rows(opened, relation, out, form))


def _written(relation: Exported, path: Path | None, rows: int) -> Written:
    renamed = {column: metric for column, metric in relation.metrics.items() if column != metric}
    return Written(relation.name, path, rows, renamed)
