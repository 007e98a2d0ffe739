"""Rows of a file, whatever its format: what each holds and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from opfield.ingest.records import Note, Refused, Source


class _Absent:
    """Marks a member that a row does not have, which is not the same as one that is NULL."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        place: where it starts, such as `run.csv: line 7`.
        values: column to value.
    """

    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A file as rows.

    Attributes:
        source: the file.
        columns: names of its columns; None where each row names its own.
        rows: its rows in order, and what is to be said of those that cannot be read.
        keeps_rows: whether a whole row is evidence; otherwise only the columns that are not mapped are.
        has_types: whether a number can be told from its text.
    """

    source: Source
    columns: tuple[str, ...] | None
    rows: Iterator[Row | Note | Refused]
    keeps_rows: bool = False
    has_types: bool = True


def member(values: Mapping[str, Any], name: str) -> Any:
    """Return the value of a column, or of a member inside an object by its dotted name; ABSENT where there is none.

    >>> member({"metrics": {"f1": 0.5}}, "metrics.f1"), member({"a.b": 1}, "a.b"), member({}, "a")
    (0.5, 1, absent)
    """
    if name in values:
        return values[name]
    head, dot, rest = name.partition(".")
    inner = values.get(head) if dot else None
    return member(inner, rest) if isinstance(inner, Mapping) else ABSENT


def names_in(values: Mapping[str, Any], prefix: str = "", depth: int = 3) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each column, and of each member inside objects by its dotted name."""
    for name, value in values.items():
        if isinstance(value, Mapping) and depth:
            yield from names_in(value, f"{prefix}{name}.", depth - 1)
        else:
            yield prefix + str(name), value


def twice(names: Iterable[str]) -> str | None:
    """Return the first name that stands twice; None where all differ."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
