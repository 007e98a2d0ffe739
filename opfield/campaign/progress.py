"""How far a campaign is, told to whoever watches."""

from __future__ import annotations

from typing import Protocol

from opfield.core import Status


class Progress(Protocol):
    """Where the engine tells how far it is; the command line draws it."""

    def begin(self, name: str, total: int, accepted: int) -> None:
        """Tell the number of declared coordinates and how many have a cell already."""
        ...

    def accepted(self, status: Status) -> None:
        """Tell that one more cell was accepted."""
        ...

    def end(self) -> None:
        """Tell that no more trials will run."""
        ...


class Silence:
    """Progress that nobody watches."""

    def begin(self, name: str, total: int, accepted: int) -> None:
        """Say nothing."""

    def accepted(self, status: Status) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""
