"""Figures that trec_eval or ir-measures printed, to be set beside what the rankings amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opfield.ingest import files
from opfield.ingest.readers.retrieval.measures import Measures, measures_of_trec_name
from opfield.ingest.readers.retrieval.refusals import counted, shown
from opfield.ingest.records import IngestError, Note, Source, Stated

#: Printed values have four decimals.
_HALF_A_DIGIT = 0.5e-4 + 1e-9


@dataclass(frozen=True, slots=True)
class Printed:
    """What an evaluation file says.

    Attributes:
        name: what the file is called.
        run: tag of the run that it evaluated; None where it does not say.
        overall: name of a measure to its figure over all queries, as text, and its place.
        by_query: name of a measure and query to its value, and its place.
    """

    name: str
    run: str | None
    overall: Mapping[str, tuple[str, str]]
    by_query: Mapping[tuple[str, str], tuple[float, str]]


def read_printed(source: Source, advance: files.Advance = lambda _bytes: None) -> Printed:
    """Return what a file of `trec_eval` or of the command `ir_measures` says.

    Raises:
        IngestError: where a line is none of theirs.
    """
    run: str | None = None
    overall: dict[str, tuple[str, str]] = {}
    by_query: dict[tuple[str, str], tuple[float, str]] = {}
    for number, line in files.lines(source, advance):
        place = f"{source.name}: line {number}"
        fields = line.decode("utf-8", "replace").split()
        if len(fields) == 2:  # ir_measures: a measure and its mean
            fields = [fields[0], "all", fields[1]]
        if len(fields) != 3:
            what = counted(len(fields), "field")
            raise IngestError(f"{place} has {what}; name the output of trec_eval: measure, query or 'all', value")
        name, query, value = fields
        if name == "runid":
            run = value
        elif query == "all":
            overall[name] = value, place
        elif _number(value) is None and _number(name) is None and _number(fields[1]) is None:
            raise IngestError(f"{place}: {shown(value)} is no number; name the output of trec_eval")
        elif (figure := _number(value)) is not None:
            # ir_measures puts the query first, trec_eval the measure.
            by_query[name, query] = by_query[query, name] = figure, place
    return Printed(source.name, run, overall, by_query)


def stated_figures(printed: Printed, system: str, measures: Measures, judged: int) -> Iterator[Stated | Note]:
    """Yield the figures over all queries that are of a measure asked for.

    Args:
        printed: the evaluation.
        system: key of the system evaluated.
        measures: what was asked for.
        judged: number of queries with judgments.
    """
    text, place = printed.overall.get("num_q", ("", ""))
    queries = _number(text)
    if queries is not None:
        yield Stated(system, "samples", queries, place, name="num_q")
    over = ""
    if queries is None:
        over = ", over the queries of the run alone unless trec_eval had -c"
    elif queries != judged:
        over = f", over {queries:g} of {judged} judged queries (trec_eval without -c leaves out those without results)"
    unknown = []
    for name, (text, place) in printed.overall.items():
        of_name = measures_of_trec_name(name)
        asked = [own for own, measure in measures.by_name.items() if measure in of_name]
        value = _number(text)
        # Counts are printed as sums over queries, which are no means.
        if not asked or value is None or of_name[0].NAME.startswith("Num"):
            unknown.append(name)
            continue
        for metric in asked:
            yield Stated(system, "mean", value, place, metric, name + over)
    if unknown and len(unknown) == len(printed.overall):
        yield Note(f"none of its figures is of a metric asked for: {', '.join(unknown)[:200]}", printed.name)


def differing_values(printed: Printed, measures: Measures, values: Mapping[str, Mapping[str, float]]) -> Iterator[Note]:
    """Yield a note for each measure whose printed value of a query is not the one computed.

    Args:
        printed: the evaluation.
        measures: what was asked for.
        values: query to metric to value, as computed.
    """
    names = {name for name, _ in printed.by_query}
    for name in sorted(names):
        for metric, measure in measures.by_name.items():
            if measure not in measures_of_trec_name(name):
                continue
            pairs = [
                (query, printed.by_query[name, query], row[metric])
                for query, row in values.items()
                if (name, query) in printed.by_query and metric in row
            ]
            wrong = [pair for pair in pairs if abs(pair[1][0] - pair[2]) > _HALF_A_DIGIT]
            if wrong:
                query, (value, place), ours = wrong[0]
                yield Note(
                    f"{name} differs in {len(wrong)} of {len(pairs)} queries from {metric} as computed: query "
                    f"{shown(query)} has {value:g} here and {ours:.4f} there",
                    place,
                )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e100 else None
