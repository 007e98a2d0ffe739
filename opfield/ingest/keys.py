"""What cases, repeats, suites, strata and systems may be known by, so that no two of a file are ever taken for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Final

from opfield.ingest.files import shown_text
from opfield.ingest.records import Expected, IngestError, Observed, Reading, Record, Refused, Sample, System

#: Longest key, in bytes of UTF-8.
LONGEST: Final = 1024
#: Integers of more bits are written out nowhere: Python itself refuses to.
_MOST_BITS: Final = 1300
#: Refusals of one kind that are told in full in one reading.
_SHOWN: Final = 5


def fault_of(what: str, key: object) -> tuple[str, str] | None:
    r"""Return why a value can be no key, and the remedy; None where it can be one.

    Lone surrogates, which no Unicode text holds, are read as U+FFFD; a key that holds it may stand for several.

    Args:
        what: what the key is, for the message, such as `case id`.
        key: the value.

    >>> fault_of("case id", "a"), fault_of("case id", 10**300)
    (None, None)
    >>> print(fault_of("case id", "k\ufffd")[0])
    case id 'k\ufffd' holds U+FFFD, which stands for characters that are lost, so that two ids may read as one
    """
    if isinstance(key, int) and not isinstance(key, bool):
        if key.bit_length() <= _MOST_BITS:
            return None
        return f"{what} is an integer of {key.bit_length()} bits", "write it as text, or shorter"
    if not isinstance(key, str):
        told = f"{key}" if isinstance(key, float | bool) or key is None else f"a {type(key).__name__}"
        return f"{what} is {told}, neither text nor a whole number", "write it as text or as an integer of few digits"
    if key.isascii() and len(key) <= LONGEST and "\0" not in key:
        return None
    told = (repr(key) if len(key) <= 40 else f"{key[:40]!r}…").replace("\ufffd", r"\ufffd")
    if "\ufffd" in key or any("\ud800" <= letter <= "\udfff" for letter in key):
        why = "holds U+FFFD, which stands for characters that are lost, so that two ids may read as one"
        return f"{what} {told} {why}", "write the file again with the characters that it had"
    if "\0" in key:
        return f"{what} {told} holds a NUL character", "remove it"
    if (size := len(key.encode())) > LONGEST:
        return f"{what} {told} is {size} bytes long, at most {LONGEST} are kept", "shorten it"
    return None


def checked(read: Callable[[Reading], Iterator[Record]]) -> Callable[[Reading], Iterator[Record]]:
    """Return a reader's function that refuses what has a key that can be none, with its place.

    Raises:
        IngestError: where what is read nests deeper than Python follows; a reader may refuse it with its place before.
    """

    @wraps(read)
    def reading_with_keys(reading: Reading) -> Iterator[Record]:
        counts: dict[str, int] = {}
        for record in _followed(read(reading), reading):
            fault = _fault_in(record)
            if fault is None:
                yield record
                continue
            refused, kind = fault
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= _SHOWN:
                yield refused
        for kind, count in counts.items():
            if count > _SHOWN:
                named = ", ".join(source.name for source in reading.sources[:3])
                yield Refused(named, f"{count} records in all are refused for their {kind}", "mend the others as well")

    return reading_with_keys


def _followed(records: Iterator[Record], reading: Reading) -> Iterator[Record]:
    last = "nothing"
    try:
        for record in records:
            yield record
            last = getattr(record, "place", last)
    except RecursionError:
        named = ", ".join(source.name for source in reading.sources[:3])
        raise IngestError(
            f"{named}: what was to be read after {last} nests too deep to be a result; leave it out"
        ) from None


def _fault_in(record: Record) -> tuple[Refused, str] | None:
    if isinstance(record, System):
        named: list[tuple[str, object]] = [("candidate", record.label)]
    elif isinstance(record, Sample | Expected):
        named = [("case id", record.case.key)]
        if record.case.suite:
            named.append(("suite", record.case.suite))
        for name, value in record.groups.items():
            named += [("name of a group", name), (f"group {shown_text(name)}", value)]
        if isinstance(record, Sample):
            if record.repeat is not None and not isinstance(record.repeat, Observed):
                named.append(("repeat", record.repeat))
            if record.cluster is not None:
                named.append(("cluster", record.cluster))
    else:
        return None
    for what, key in named:
        fault = fault_of(what, key)
        if fault is not None:
            return Refused(record.place, *fault), what
    return None
