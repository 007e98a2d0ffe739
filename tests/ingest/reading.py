"""What a reader says of files, as lists that a test can look into."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from opfield.ingest.records import Reader, Reading, Record, Source

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the public result files are not at hand")

Kind = TypeVar("Kind")


def read(reader: Reader, *paths: Path, metrics: tuple[str, ...] = (), **options: Any) -> list[Record]:
    """Return all records of files; options take their defaults where not given."""
    values = {option.name: option.default for option in reader.options} | options
    sources = [Source(path, path.name) for path in paths]
    return list(reader.read(Reading(sources, values, metrics)))


def only(kind: type[Kind], records: Iterable[object]) -> list[Kind]:
    """Return the records of one kind, in order."""
    return [record for record in records if isinstance(record, kind)]
