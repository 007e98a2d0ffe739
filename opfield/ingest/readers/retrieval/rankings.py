"""Runs: what a system returned for each query, read query by query where the file allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite

from opfield.core.number import is_number
from opfield.ingest import files
from opfield.ingest.readers.retrieval.nested import Entry, entries, is_nested, place_of
from opfield.ingest.readers.retrieval.refusals import Refusals, counted, shown
from opfield.ingest.records import Note, Refused, Source

_FIELDS = 6


class ScatteredError(Exception):
    """A query comes back after another one began: the run must be held before its rankings are whole."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a run returned for one query.

    Attributes:
        query: id of the query.
        place: where it begins.
        scores: document to score, at least one; the order carries nothing.
    """

    query: str
    place: str
    scores: dict[str, float]


@dataclass(slots=True)
class Findings:
    """What a reading of a run came across besides its rankings.

    Attributes:
        refused: what of the file cannot be read; it knows what the file is called.
        lines: lines or entries read.
        tag: the run's own name, from column 6 of its first line; None where the form has none.
        other_tags: lines with another tag.
        repeated: lines that say the same as an earlier one.
        contradicting: queries whose ranks and scores disagree, an example of them.
        merged: queries with scores that trec_eval's numbers of 32 bits cannot tell apart.
    """

    refused: Refusals
    lines: int = 0
    tag: str | None = None
    other_tags: int = 0
    repeated: int = 0
    contradicting: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)

    def records(self) -> Iterator[Note | Refused]:
        """Yield the notes and refusals, the first few of a kind by name."""
        if self.other_tags:
            yield Note(
                f"{counted(self.other_tags, 'line')} with a tag other than {shown(self.tag or '')}", self.refused.name
            )
        if self.repeated:
            yield Note(f"{counted(self.repeated, 'line')} repeated word for word, kept once", self.refused.name)
        if self.contradicting:
            yield Note(
                f"the ranks of {counted(len(self.contradicting), 'query', 'queries')}, such as "
                f"{shown(self.contradicting[0])}, contradict the scores; trec_eval goes by scores alone, as here",
                self.refused.name,
            )
        if self.merged:
            yield Note(
                f"{counted(len(self.merged), 'query', 'queries')}, such as {shown(self.merged[0])}, with scores that "
                "differ too little for trec_eval's numbers of 32 bits: it breaks such ties by document id",
                self.refused.name,
            )
        yield from self.refused.records()


def rankings(
    source: Source, findings: Findings, advance: files.Advance = lambda _bytes: None, *, is_scattered: bool = False
) -> Iterator[Ranking]:
    """Yield the rankings of a run: TREC lines, plain or gzip, JSON, Parquet or ranx's LZ4.

    Args:
        source: the file.
        findings: filled while reading.
        advance: told of the bytes read.
        is_scattered: whether lines of a query may stand apart: the run is then held, compactly, before the first
            ranking.

    Raises:
        ScatteredError: where lines of a query stand apart, and `is_scattered` is false.
        IngestError: where the file is damaged.
    """
    if is_nested(source):
        yield from _of_entries(source, findings, advance, is_scattered)
    elif is_scattered:
        yield from _of_scattered_lines(source, findings, advance)
    else:
        yield from _of_lines(source, findings, advance)


def _fields(source: Source, findings: Findings, advance: files.Advance) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the fields of each line that has six."""
    tag = None
    for number, line in files.lines(source, advance):
        fields = line.split()
        if len(fields) != _FIELDS:
            remedy = "write query, Q0, document, rank, score and tag, without blanks inside them"
            if len(fields) == 4:
                remedy = "lines of four are judgments: name them as such, with --qrels"
            what = f"{counted(len(fields), 'field')}, where a run has {_FIELDS}"
            findings.refused.add(f"{findings.refused.name}: line {number}", what, remedy)
            continue
        findings.lines += 1
        if fields[5] != tag:
            if tag is None:
                tag = fields[5]
                findings.tag = tag.decode("utf-8", "replace")
            else:
                findings.other_tags += 1
        yield number, fields


def _of_lines(source: Source, findings: Findings, advance: files.Advance) -> Iterator[Ranking]:
    begun: set[bytes] = set()
    current: bytes | None = None
    numbers: list[int] = []
    documents: list[bytes] = []
    ranks: list[bytes] = []
    scores: list[bytes] = []
    for number, (query, _, document, rank, score, _) in _fields(source, findings, advance):
        if query != current:
            if current is not None:
                yield from _of_block(current, numbers, documents, ranks, scores, findings)
            if query in begun:
                raise ScatteredError
            begun.add(query)
            current = query
            numbers, documents, ranks, scores = [], [], [], []
        numbers.append(number)
        documents.append(document)
        ranks.append(rank)
        scores.append(score)
    if current is not None:
        yield from _of_block(current, numbers, documents, ranks, scores, findings)


def _of_scattered_lines(source: Source, findings: Findings, advance: files.Advance) -> Iterator[Ranking]:
    held: dict[bytes, bytearray] = {}
    for number, (query, _, document, rank, score, _) in _fields(source, findings, advance):
        # One byte string a query takes a fraction of what a list of its fields would.
        held.setdefault(query, bytearray()).extend(b"%d %b %b %b\n" % (number, document, rank, score))
    while held:
        query = next(iter(held))
        numbers, documents, ranks, scores = zip(
            *(row.split() for row in held.pop(query).split(b"\n")[:-1]), strict=True
        )
        yield from _of_block(query, list(map(int, numbers)), documents, ranks, scores, findings)


def _of_block(
    query: bytes,
    numbers: Sequence[int],
    documents: Sequence[bytes],
    ranks: Sequence[bytes],
    scores: Sequence[bytes],
    findings: Findings,
) -> Iterator[Ranking]:
    """Yield the ranking of one query's lines, where they are sound."""

    def place(index: int) -> str:
        return f"{findings.refused.name}: line {numbers[index]}"

    try:
        name = query.decode("utf-8")
        ids = b"\n".join(documents).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        wrong = next(i for i, one in enumerate(documents) if not _is_utf8(one)) if _is_utf8(query) else 0
        findings.refused.add(place(wrong), "an id is not UTF-8", "write the file again as UTF-8")
        return
    try:
        if b"_" in b" ".join(scores):  # Python reads 1_0 as 10; nobody else does
            raise ValueError
        values = list(map(float, scores))
    except ValueError:
        for index, score in enumerate(scores):
            if not _is_decimal(score):
                shown_score = shown(score.decode("utf-8", "replace"))
                findings.refused.add(place(index), f"score {shown_score} is no number", "mend the score")
        return
    yield from _ranking(name, ids, values, place, findings)
    if _contradicts(ranks, values):
        findings.contradicting.append(name)


def _of_entries(source: Source, findings: Findings, advance: files.Advance, is_scattered: bool) -> Iterator[Ranking]:
    """Yield the rankings of a mapping or table."""
    blocks: dict[str, tuple[list[str], list[float], list[int | None]]] = {}
    begun: set[str] = set()

    def ended() -> Iterator[Ranking]:
        for query, (ids, scores, rows) in blocks.items():

            def place(index: int, query: str = query, ids: list[str] = ids, rows: list[int | None] = rows) -> str:
                return place_of(source, Entry(query, ids[index], None, rows[index]))

            yield from _ranking(query, ids, scores, place, findings)
        blocks.clear()

    for entry in entries(source, advance):
        findings.lines += 1
        if not is_number(entry.value):
            told = f"score {shown(str(entry.value))} is no number"
            findings.refused.add(place_of(source, entry), told, "mend the score")
            continue
        if entry.query not in blocks:
            if not is_scattered:
                yield from ended()
                if entry.query in begun:
                    raise ScatteredError
                begun.add(entry.query)
            blocks[entry.query] = [], [], []
        ids, scores, rows = blocks[entry.query]
        ids.append(entry.document)
        scores.append(_as_float(entry.value))
        rows.append(entry.place)
    yield from ended()


def _ranking(
    query: str, ids: Sequence[str], values: Sequence[float], place: Callable[[int], str], findings: Findings
) -> Iterator[Ranking]:
    if not all(map(isfinite, values)):
        for index, value in enumerate(values):
            if not isfinite(value):
                told = f"score {value} of document {shown(ids[index])} is not finite"
                findings.refused.add(place(index), told, "write the score as a number, or leave it out")
        return
    if "\0" in query or any("\0" in one for one in ids):
        findings.refused.add(place(0), f"an id of query {shown(query)} holds NUL", "mend the id")
        return
    scores = dict(zip(ids, values, strict=True))
    if len(scores) < len(ids):
        scores = _once(query, ids, values, place, findings)
    if _merges(values):
        findings.merged.append(query)
    yield Ranking(query, place(0), scores)


def _once(
    query: str, ids: Sequence[str], values: Sequence[float], place: Callable[[int], str], findings: Findings
) -> dict[str, float]:
    first: dict[str, int] = {}
    for index, document in enumerate(ids):
        earlier = first.setdefault(document, index)
        if earlier == index:
            continue
        if values[earlier] == values[index]:
            findings.repeated += 1
            continue
        findings.refused.add(
            place(index),
            f"document {shown(document)} of query {shown(query)} has score {values[index]}, and {values[earlier]} "
            f"at {place(earlier)}",
            "keep the line that is meant",
        )
    return {document: values[index] for document, index in first.items()}


def _contradicts(ranks: Sequence[bytes], values: Sequence[float]) -> bool:
    """Return whether a document of a better rank has a lower score; ranks that are no numbers say nothing."""
    try:
        numbers = list(map(int, ranks))
    except ValueError:
        return False
    if all(one < other for one, other in pairwise(numbers)):
        ordered = values
    else:
        ordered = [
            value for _, value in sorted(zip(numbers, values, strict=True), key=lambda pair: (pair[0], -pair[1]))
        ]
    return any(one < other for one, other in pairwise(ordered))


def _merges(values: Sequence[float]) -> bool:
    """Return whether distinct scores become equal as numbers of 32 bits."""
    import numpy as np  # takes longer to load than a small run to read

    exact = np.unique(np.asarray(values))
    with np.errstate(over="ignore"):
        return len(np.unique(exact.astype(np.float32))) < len(exact)


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _is_decimal(score: bytes) -> bool:
    try:
        return b"_" not in score and float(score) is not None
    except ValueError:
        return False


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
