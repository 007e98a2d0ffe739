"""Readers that are installed: they come by entry point, the shipped ones like a third party's."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from opfield.errors import DeclarationError, unknown_name
from opfield.ingest.records import Reader

ENTRY_POINTS: Final = "opfield.readers"


def installed_reader_names() -> tuple[str, ...]:
    """Return the names of the readers that are installed, sorted."""
    return tuple(sorted({point.name for point in _points()}))


def load_reader(name: str) -> Reader:
    """Return an installed reader.

    Raises:
        UnknownNameError: listing the installed ones.
        DeclarationError: where the entry point cannot be imported, or is no reader.
    """
    found = [point for point in _points() if point.name == name]
    if not found:
        raise unknown_name("reader", name, installed_reader_names())
    if len(found) > 1:
        raise DeclarationError(f"two packages bring a reader {name!r}; uninstall one of them")
    try:
        reader = found[0].load()
    except ImportError as error:
        raise DeclarationError(f"reader {name!r} cannot be imported: {error}") from error
    if not isinstance(reader, Reader):
        raise DeclarationError(f"entry point {name!r} gives a {type(reader).__name__}, not a Reader")
    return reader


def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=ENTRY_POINTS))
