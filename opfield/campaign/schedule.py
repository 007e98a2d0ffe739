"""Which trial comes next: the `pending` view gives the work, a seeded order interleaves the arms (§49.5)."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from opfield.experiment import Coordinate
from opfield.prob import Seed

_PLACE = attrgetter("case_id", "repeat", "candidate_id")


def interleaved(pending: Iterable[Coordinate], root: Seed) -> list[Coordinate]:
    """Return the pending coordinates so that drift hits both arms alike.

    All arms of one (case, repeat) stand together, in a shuffled order; the (case, repeat) blocks are shuffled too. The
    order depends on the seed root and on what is pending, on nothing else.
    """
    blocks: dict[tuple[str, int], list[Coordinate]] = defaultdict(list)
    for coordinate in sorted(pending, key=_PLACE):
        blocks[coordinate.case_id, coordinate.repeat].append(coordinate)
    shuffle = random.Random(root.split("opfield/schedule/v1").value)
    keys = sorted(blocks)
    shuffle.shuffle(keys)
    ordered: list[Coordinate] = []
    for key in keys:
        shuffle.shuffle(blocks[key])
        ordered.extend(blocks[key])
    return ordered


@dataclass(slots=True)
class WorkQueue:
    """Coordinates still to run: new ones in order, and those waiting out a backoff.

    Attributes:
        fresh: coordinates in reverse order of dispatch.
    """

    fresh: list[Coordinate]
    _waiting: list[tuple[float, int, Coordinate, int]] = field(default_factory=list)
    _ticket: int = 0

    @classmethod
    def of(cls, ordered: Iterable[Coordinate]) -> WorkQueue:
        """Return the queue of coordinates in dispatch order."""
        return cls(list(reversed(list(ordered))))

    def __len__(self) -> int:
        return len(self.fresh) + len(self._waiting)

    def retry(self, coordinate: Coordinate, attempt: int, at: float) -> None:
        """Put a coordinate back for its `attempt`-th attempt, not before the monotonic time `at`."""
        self._ticket += 1
        heapq.heappush(self._waiting, (at, self._ticket, coordinate, attempt))

    def next(self, now: float) -> tuple[Coordinate, int] | None:
        """Return the next coordinate and its attempt number; None where nothing may start yet."""
        if self._waiting and self._waiting[0][0] <= now:
            _, _, coordinate, attempt = heapq.heappop(self._waiting)
            return coordinate, attempt
        return (self.fresh.pop(), 1) if self.fresh else None
