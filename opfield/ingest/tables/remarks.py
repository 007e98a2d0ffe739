"""What is said of many rows at once: notes are counted, and refusals of one kind are cut to the first few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from opfield.ingest.records import Note, Record, Refused

#: Refusals of one kind that are told in full, in each file.
_SHOWN: Final = 5
#: After so many refusals in a file the rest of it is not read: it is no such table.
_GIVEN_UP: Final = 10_000


@dataclass(slots=True)
class Remarks:
    """Counts what is worth a note."""

    _found: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, text: str, place: str) -> None:
        """Count one more of a kind, and keep where it was first met."""
        count, first = self._found.get(text, (0, place))
        self._found[text] = count + 1, first

    def notes(self) -> Iterator[Note]:
        """Yield a note for each kind."""
        for text, (count, place) in self._found.items():
            yield Note(f"{text} ({count} row{'s, the first here' if count > 1 else ''})", place)


def in_few(records: Iterable[Record], file: str) -> Iterator[Record]:
    """Yield records; of refusals with one remedy the first few, and then how many there were.

    A file of which very many rows are refused is not read to its end.

    Args:
        records: the records of one file.
        file: name of the file.
    """
    counts: dict[str, int] = {}
    first: dict[str, Refused] = {}
    for record in records:
        if not isinstance(record, Refused):
            yield record
            continue
        first.setdefault(record.remedy, record)
        counts[record.remedy] = counts.get(record.remedy, 0) + 1
        if counts[record.remedy] <= _SHOWN:
            yield record
        if sum(counts.values()) >= _GIVEN_UP:
            yield Refused(file, f"{_GIVEN_UP} rows are refused; the rest of the file was not read", "see the others")
            break
    for remedy, count in counts.items():
        if count > _SHOWN:
            yield Refused(file, f"{count} rows in all are refused as {first[remedy].place} is", remedy)
