"""What installed packages offer by entry point: domains, readers and plugins, the shipped ones like a third party's."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from opfield.errors import DeclarationError, unknown_name

Offered = TypeVar("Offered")


def offered_names(group: str) -> tuple[str, ...]:
    """Return the names that are offered in a group of entry points, sorted, each once."""
    return tuple(sorted({point.name for point in entry_points_of(group)}))


def load_offered(group: str, name: str, what: str, kind: type[Offered]) -> Offered:
    """Return what is offered under a name.

    Args:
        group: group of entry points, such as `opfield.readers`.
        name: the name.
        what: what it is, for messages, such as `reader`.
        kind: type that it must be of.

    Raises:
        UnknownNameError: listing what is offered.
        DeclarationError: where two packages offer the name, or it cannot be imported, or is of another type.
    """
    found = [point for point in entry_points_of(group) if point.name == name]
    if not found:
        raise unknown_name(what, name, offered_names(group))
    if len(found) > 1:
        raise DeclarationError(f"two packages bring a {what} {name!r}; uninstall one of them")
    try:
        offered = found[0].load()
    except (Exception, SystemExit) as error:  # whatever a package does while it is loaded
        raise DeclarationError(f"{what} {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(offered, kind):
        raise DeclarationError(f"entry point {name!r} gives a {type(offered).__name__}, not a {kind.__name__}")
    return offered


def entry_points_of(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, in no particular order."""
    return tuple(_installed(_stamps()).select(group=group))


@lru_cache(maxsize=1)
def _installed(stamps: tuple[tuple[str, int], ...]) -> Any:  # noqa: ARG001 - what the answer is good for
    # Every installed package is asked, which takes longer than most of what opfield does with the answer.
    return entry_points()


def _stamps() -> tuple[tuple[str, int], ...]:
    """Return where packages are looked for, and when something was last installed there."""
    found = []
    for folder in sys.path:
        with suppress(OSError):
            found.append((folder, os.stat(folder or ".").st_mtime_ns))
    return tuple(found)
