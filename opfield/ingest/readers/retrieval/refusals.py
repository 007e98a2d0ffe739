"""Refusals of one file, the first few by name, so that a file of another kind does not fill the memory with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from opfield.ingest.records import Refused

#: So many refusals of a file are named; the rest is counted.
NAMED: Final = 10


@dataclass(slots=True)
class Refusals:
    """What of a file cannot be read.

    Attributes:
        name: what the file is called.
        first: the first of them.
        more: how many there are beyond these.
    """

    name: str
    first: list[Refused] = field(default_factory=list)
    more: int = 0

    def add(self, place: str, reason: str, remedy: str) -> None:
        """Take note of one."""
        if len(self.first) < NAMED:
            self.first.append(Refused(place, reason, remedy))
        else:
            self.more += 1

    def records(self) -> Iterator[Refused]:
        """Yield those that are named, and one for the rest."""
        yield from self.first
        if self.more:
            yield Refused(self.name, f"{counted(self.more, 'more line')} like these cannot be read", "mend the file")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "query", "queries"), counted(2000, "line")
    ('1 query', '2,000 lines')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def named(ids: Sequence[str], limit: int = 3) -> str:
    """Return the first few of some ids, quoted."""
    return ", ".join(shown(one) for one in ids[:limit])


def shown(text: str) -> str:
    """Return an id as messages show it: quoted, and short however long it is."""
    return repr(text) if len(text) <= 60 else f"{text[:60]!r}…"
