"""Gate kinds of other packages: folders of SQL files that they offer by entry point."""

from __future__ import annotations

from pathlib import Path

from opfield.core.offered import entry_points_of
from opfield.errors import WarehouseError

GATE_ENTRY_POINTS = "opfield.gates"
"""Entry points that offer gate kinds: each loads to the Path of a folder, or to a function that returns one."""


def offered_gate_folders() -> list[Path]:
    """Return the folders of gate kinds that installed packages offer, in the order of their entry points' names.

    Raises:
        WarehouseError: An entry point fails or gives no folder.
    """
    found = []
    for point in sorted(entry_points_of(GATE_ENTRY_POINTS), key=lambda each: (each.name, each.value)):
        where = f"the entry point {point.name!r} of {GATE_ENTRY_POINTS} ({point.value})"
        try:
            offered = point.load()
            offered = offered() if callable(offered) else offered
        except Exception as error:  # whatever a third party's module raises is told as what it is: its own fault
            raise WarehouseError(f"{where} failed: {type(error).__name__}: {error}; mend or remove it") from error
        if not isinstance(offered, Path):
            raise WarehouseError(f"{where} gives {offered!r}; it should give the Path of a folder of gate kinds")
        if not offered.is_dir():
            raise WarehouseError(f"{where} gives the folder {offered}, which does not exist; reinstall its package")
        found.append(offered)
    return found
