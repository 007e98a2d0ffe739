"""Judgments (qrels): which document was judged how relevant to which query, in any of the usual forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from opfield.core import check_label
from opfield.errors import DeclarationError
from opfield.ingest import files
from opfield.ingest.readers.retrieval.measures import LARGEST_RELEVANCE
from opfield.ingest.readers.retrieval.nested import entries, is_nested, place_of
from opfield.ingest.readers.retrieval.refusals import Refusals, counted, named, shown
from opfield.ingest.records import IngestError, Note, Refused, Source


@dataclass(frozen=True, slots=True)
class Judgments:
    """What was judged.

    Attributes:
        name: what the file is called.
        relevance: query to document to relevance, in the file's order.
        places: query to where it is first judged.
        remarks: notes and refusals of the file.
    """

    name: str
    relevance: dict[str, dict[str, int]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    remarks: list[Note | Refused] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Judgment:
    query: str
    document: str
    relevance: int
    place: str


def read_judgments(source: Source, advance: files.Advance = lambda _bytes: None) -> Judgments:
    """Return the judgments of a file: TREC lines, BEIR's tab-separated table, JSON, Parquet or ranx's LZ4.

    Raises:
        IngestError: where nothing can be read from it, or it judges nothing.
    """
    found = Judgments(source.name)
    refused = Refusals(source.name)
    repeated = below_zero = 0
    for judgment in _judgments(source, advance, refused, found.remarks):
        query, document = judgment.query, judgment.document
        of_query = found.relevance.get(query)
        if of_query is None:
            of_query = found.relevance[query] = {}
            found.places[query] = judgment.place
        before = of_query.get(document)
        if before is None:
            of_query[document] = judgment.relevance
            below_zero += judgment.relevance < 0
        elif before == judgment.relevance:
            repeated += 1
        else:
            earlier = _first_place(source, query, document) if not refused.more else "an earlier line"
            refused.add(
                judgment.place,
                f"document {shown(document)} is judged {judgment.relevance} for query {shown(query)}, "
                f"and {before} at {earlier}",
                "keep the judgment that is meant",
            )
    found.remarks.extend(refused.records())
    if not found.relevance and not refused.first:
        raise IngestError(f"{source.name} holds no judgment; name the file of judgments")
    found.remarks.extend(_notes(found, repeated, below_zero))
    return found


def _first_place(source: Source, query: str, document: str) -> str:
    """Return where a document was first judged: conflicts are rare, so that places are looked up, not kept."""
    every = _judgments(source, lambda _bytes: None, Refusals(source.name), [])
    return next(one.place for one in every if (one.query, one.document) == (query, document))


def _notes(found: Judgments, repeated: int, below_zero: int) -> Iterator[Note]:
    if repeated:
        yield Note(f"{counted(repeated, 'judgment')} repeated word for word, kept once", found.name)
    if below_zero:
        yield Note(f"{counted(below_zero, 'judgment')} below 0: judged, and not relevant", found.name)
    without = [query for query, judged in found.relevance.items() if max(judged.values()) <= 0]
    if without:
        yield Note(
            f"{counted(len(without), 'query', 'queries')} without a relevant document, such as {named(without)}: "
            "measures of relevance are 0 there for every run, and they count",
            found.name,
        )


def _judgments(
    source: Source, advance: files.Advance, refused: Refusals, remarks: list[Note | Refused]
) -> Iterator[_Judgment]:
    if is_nested(source):
        for entry in entries(source, advance):
            yield from _checked(entry.query, entry.document, entry.value, place_of(source, entry), refused)
        return
    is_table: bool | None = None
    for number, line in files.lines(source, advance):
        place = f"{source.name}: line {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            refused.add(place, f"byte {error.start} is not UTF-8", "write the file again as UTF-8")
            continue
        if is_table is None:
            fields = text.split("\t")
            has_header = len(fields) == 3 and not _is_whole(fields[2])
            is_table = has_header or (len(fields) == 3 and len(line.split()) != 4)
            if has_header:
                continue
            if is_table:
                remarks.append(Note("the table has no header; its first line was read as a judgment", place))
        parts = text.split("\t") if is_table else [part.decode() for part in line.split()]
        wanted = 3 if is_table else 4
        if len(parts) != wanted:
            form = "query, document, relevance, by tabs" if is_table else "query, 0, document, relevance"
            refused.add(place, f"{counted(len(parts), 'field')}, where judgments have {wanted} ({form})", "mend it")
            continue
        relevance = parts[-1].strip()
        yield from _checked(
            parts[0], parts[1 if is_table else 2], int(relevance) if _is_whole(relevance) else relevance, place, refused
        )


def _is_whole(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _checked(query: str, document: str, relevance: object, place: str, refused: Refusals) -> Iterator[_Judgment]:
    """Yield the judgment where it is one; refuse what ir-measures could not take."""
    try:
        check_label("query id", query)
    except DeclarationError as error:
        refused.add(place, str(error), "give the query another id")
        return
    if "\0" in document or not document:
        refused.add(place, f"document id {shown(document)} is empty or holds NUL", "mend the id")
        return
    if isinstance(relevance, float) and relevance.is_integer():
        relevance = int(relevance)
    if not isinstance(relevance, int) or isinstance(relevance, bool):
        refused.add(
            place,
            f"relevance {str(relevance)[:60]!r} is no whole number",
            "judge in whole numbers, such as 0 and 1",
        )
    elif abs(relevance) > LARGEST_RELEVANCE:
        refused.add(
            place,
            f"relevance {relevance} is beyond {LARGEST_RELEVANCE:,}, which trec_eval takes",
            "judge in grades",
        )
    else:
        yield _Judgment(query, document, relevance, place)
