"""From judgments and runs to records: each judged query is a case, and each run an arm that owes all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status
from opfield.ingest import files
from opfield.ingest.readers.retrieval.judgments import Judgments
from opfield.ingest.readers.retrieval.matching import would_match
from opfield.ingest.readers.retrieval.measures import Measures, asked_measures, values
from opfield.ingest.readers.retrieval.rankings import Findings, Ranking, ScatteredError, rankings
from opfield.ingest.readers.retrieval.refusals import Refusals, counted, named
from opfield.ingest.readers.retrieval.stated import Printed, differing_values, read_printed, stated_figures
from opfield.ingest.records import (
    CaseRef,
    Expected,
    IngestError,
    MetricStated,
    Note,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
    Stated,
    System,
)
from opfield.ingest.sources import name_of

#: So many documents are scored at once.
_BATCH: Final = 100_000

NO_RESULTS: Final = Failure("no_results", "the run returned nothing for this query, which ir-measures counts as 0")


@dataclass(frozen=True, slots=True)
class _Value:
    place: str
    of_metrics: Mapping[str, float | MissingReason]


@dataclass(slots=True)
class _Scored:
    """A run, scored: its values, and what else there is to tell.

    Attributes:
        findings: what the file's reading came across.
        values: judged query to its values.
        unjudged: queries of the run that nobody judged.
        has_judged_document: whether any document returned was judged.
    """

    findings: Findings
    values: dict[str, _Value] = field(default_factory=dict)
    unjudged: list[str] = field(default_factory=list)
    has_judged_document: bool = False


def records(reading: Reading, judgments: Judgments, texts: Mapping[str, str]) -> Iterator[Record]:
    """Yield what runs amount to under some judgments.

    Args:
        reading: the runs, the metrics asked for, and the option `stated`.
        judgments: what was judged.
        texts: query to its text, as far as known.

    Raises:
        IngestError: where there is no run, or a file is damaged.
    """
    if not reading.sources:
        raise IngestError("no run is named; name at least one file of rankings")
    measures = asked_measures(reading.metrics, reading.optional)
    yield from judgments.remarks
    if not judgments.relevance:
        return
    for metric in measures.metrics:
        yield MetricStated(metric, judgments.name)
    scored: dict[str, tuple[Source, _Scored]] = {}
    for source in reading.sources:
        key = source.name
        while key in scored:  # two folders may hold runs of one name
            key += "'"
        run = _scored(source, judgments, measures, reading.advance)
        scored[key] = source, run
        yield _system(key, source, run)
        yield from run.findings.records()
        yield from _cells(key, source, run, judgments, texts)
    for path in option_paths(reading.options.get("stated")):
        printed = read_printed(Source(path, name_of(path)), reading.advance)
        yield from _reconciled(printed, scored, measures, judgments)


def option_path(value: Any) -> Path | None:
    """Return the path of an option that may be absent."""
    return None if value is None else Path(value)


def option_paths(value: Any) -> tuple[Path, ...]:
    """Return the paths of an option that may be given more than once."""
    if value is None:
        return ()
    return tuple(map(Path, value)) if isinstance(value, tuple | list) else (Path(value),)


def looks_like_run(path: Path) -> bool:
    """Return whether a file's name and first line are those of a run."""
    if "qrel" in path.name.lower() or not path.is_file():
        return False
    start = files.first_bytes(path, 4)
    if start.startswith((b"PAR1", b"\x04\x22\x4d\x18")):
        return path.suffix in (".parquet", ".lz4")
    try:
        with files.open_file(Source(path, path.name)) as raw:
            head = files.expanded(raw, Source(path, path.name)).peek(4096)[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    except IngestError:
        return False
    if head.startswith(b"{"):
        # {"query": {"document": score: a name, and a name within it, before any other value.
        parts = head[1:].split(b":", 2)
        return len(parts) == 3 and parts[1].strip().startswith(b"{") and parts[2].lstrip()[:1] in b"-0123456789"
    fields = head.partition(b"\n")[0].split()
    return len(fields) == 6 and _is_number(fields[3]) and _is_number(fields[4])


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _scored(source: Source, judgments: Judgments, measures: Measures, advance: Callable[[int], None]) -> _Scored:
    told = 0

    def first(count: int) -> None:
        nonlocal told
        told += count
        advance(count)

    try:
        return _scored_in(source, judgments, measures, first, is_scattered=False)
    except ScatteredError:
        again = 0

        def beyond(count: int) -> None:
            nonlocal again
            advance(max(0, again + count - told) - max(0, again - told))
            again += count

        return _scored_in(source, judgments, measures, beyond, is_scattered=True)


def _scored_in(
    source: Source, judgments: Judgments, measures: Measures, advance: Callable[[int], None], *, is_scattered: bool
) -> _Scored:
    run = _Scored(Findings(Refusals(source.name)))
    batch: list[Ranking] = []
    documents = 0
    for ranking in rankings(source, run.findings, advance, is_scattered=is_scattered):
        judged = judgments.relevance.get(ranking.query)
        if judged is None:
            run.unjudged.append(ranking.query)
            continue
        run.has_judged_document = run.has_judged_document or not judged.keys().isdisjoint(ranking.scores)
        batch.append(ranking)
        documents += len(ranking.scores)
        if documents >= _BATCH:
            _score(batch, judgments, measures, run)
            batch, documents = [], 0
    _score(batch, judgments, measures, run)
    return run


def _score(batch: Sequence[Ranking], judgments: Judgments, measures: Measures, run: _Scored) -> None:
    if not batch:
        return
    judged = {ranking.query: judgments.relevance[ranking.query] for ranking in batch}
    found = values(measures, judged, {ranking.query: ranking.scores for ranking in batch})
    for ranking in batch:
        run.values[ranking.query] = _Value(ranking.place, found[ranking.query])


def _system(key: str, source: Source, run: _Scored) -> System:
    tag, stem = run.findings.tag, _stem(source.name)
    aliases = tuple(dict.fromkeys(alias for alias in (tag, stem) if alias and alias != source.name))
    says = {"tool": "trec_eval run", "tag": tag if tag is not None else stem}
    return System(key, source.name, source.name, says, aliases)


def _stem(name: str) -> str:
    stem = PurePath(name).name.removesuffix(".gz")
    return PurePath(stem).stem


def _cells(key: str, source: Source, run: _Scored, judgments: Judgments, texts: Mapping[str, str]) -> Iterator[Record]:
    if not run.values:
        yield from _unmatched(source, run, judgments)
        return
    absent = []
    for query, place in judgments.places.items():
        case, text = CaseRef(query), texts.get(query)
        yield Expected(key, case, place, input=text)
        value = run.values.get(query)
        if value is None:
            absent.append(query)
            yield Sample(key, case, source.name, input=text, status=Status.DOMAIN_FAILURE, failure=NO_RESULTS)
            continue
        yield Sample(
            key,
            case,
            value.place,
            input=text,
            values={name: one for name, one in value.of_metrics.items() if not isinstance(one, MissingReason)},
            missing={name: one for name, one in value.of_metrics.items() if isinstance(one, MissingReason)},
        )
    if absent:
        what = counted(len(absent), "judged query", "judged queries")
        yield Note(f"nothing was returned for {what}, such as {named(absent)}: they count as failures", source.name)
    if run.unjudged:
        what = counted(len(run.unjudged), "query", "queries")
        alike = would_match(run.unjudged, absent) if absent else None
        hint = f"; {alike} that {judgments.name} has and the run lacks" if alike else ""
        yield Note(f"{what} without judgments, such as {named(run.unjudged)}, that no tool scores{hint}", source.name)
    if not run.has_judged_document:
        yield Note(f"none of the documents returned is judged; do their ids read as in {judgments.name}?", source.name)


def _unmatched(source: Source, run: _Scored, judgments: Judgments) -> Iterator[Refused]:
    if run.findings.refused.first:
        return
    if not run.unjudged:
        yield Refused(source.name, "it holds no ranking", "leave it out, or write it again")
        return
    what = counted(len(run.unjudged), "query", "queries")
    alike = would_match(run.unjudged, judgments.relevance) or (
        f"the run has {named(run.unjudged)}, the judgments {named(list(judgments.relevance))}"
    )
    yield Refused(
        source.name,
        f"0 of its {what} are among the {len(judgments.relevance):,} of {judgments.name}, by their exact ids; {alike}",
        "write the ids of both files alike, or name the judgments of this run",
    )


def _reconciled(
    printed: Printed, scored: Mapping[str, tuple[Source, _Scored]], measures: Measures, judgments: Judgments
) -> Iterator[Stated | Note | Refused]:
    """Yield the figures of an evaluation file for the run that it is of."""
    stems = {key: _stem(source.name) for key, (source, _) in scored.items()}
    begun = {key: len(stem) for key, stem in stems.items() if printed.name.startswith(stem)}
    named_alike = [key for key, length in begun.items() if length == max(begun.values())]
    tagged_alike = [key for key, (_, run) in scored.items() if printed.run and run.findings.tag == printed.run]
    both = [key for key in tagged_alike if key in named_alike]
    chosen = next((keys for keys in (both, tagged_alike, named_alike, list(scored)) if len(keys) == 1), None)
    if chosen is None or (printed.run and len(scored) == 1 and not tagged_alike and scored[chosen[0]][1].findings.tag):
        yield Refused(
            printed.name,
            f"it is of run {printed.run!r}, which is not one of {', '.join(scored)}"
            if printed.run
            else f"it does not say which of {', '.join(scored)} it is of",
            "name the file after its run, such as bm25.eval for bm25.run, or leave it out",
        )
        return
    run = scored[chosen[0]][1]
    yield from stated_figures(printed, chosen[0], measures, len(judgments.relevance))
    computed = {
        query: {name: one for name, one in value.of_metrics.items() if not isinstance(one, MissingReason)}
        for query, value in run.values.items()
    }
    yield from differing_values(printed, measures, computed)
