"""Readers that are installed: they come by entry point, the shipped ones like a third party's."""

from __future__ import annotations

from functools import cache
from typing import Final

from opfield.core.offered import load_offered, offered_names
from opfield.ingest.records import Reader

ENTRY_POINTS: Final = "opfield.readers"


def installed_reader_names() -> tuple[str, ...]:
    """Return the names of the readers that are installed, sorted."""
    return offered_names(ENTRY_POINTS)


@cache
def load_reader(name: str) -> Reader:
    """Return an installed reader.

    Raises:
        UnknownNameError: listing the installed ones.
        DeclarationError: where the entry point cannot be imported, or is no reader.
    """
    return load_offered(ENTRY_POINTS, name, "reader", Reader)
