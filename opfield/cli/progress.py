"""Progress on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from opfield.core import Status

if TYPE_CHECKING:
    # Loaded where something is drawn.
    from rich.progress import Progress, TaskID


class TerminalProgress:
    """Draws one line on stderr: name, bar, cells accepted of cells declared, failures so far."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID
        self._failed = 0

    def begin(self, name: str, total: int, accepted: int) -> None:
        """Start drawing, where stderr is a terminal."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells{task.fields[failed]}"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr, stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task(name, total=total, completed=accepted, failed="")

    def accepted(self, status: Status) -> None:
        """Advance by one cell."""
        if self._bar is None:
            return
        if status is not Status.SUCCESS:
            self._failed += 1
        self._bar.update(self._task, advance=1, failed=f", {self._failed} failed" if self._failed else "")

    def end(self) -> None:
        """Stop drawing; the last line stays."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
