"""Intake: readers' records laid down, named and placed; what stands in the way is told whole, and ends it.

Python moves records; which samples are one case, which repeats they take and what contradicts what is decided by the
relations in `opfield/ingest/sql` over everything that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import duckdb
import orjson

from opfield.core import MissingReason, Status
from opfield.core.label import check_label
from opfield.errors import OpfieldError
from opfield.experiment.space import BASELINE_LABEL
from opfield.ingest.records import IngestError, Note, Reading, Refused, Source, System
from opfield.ingest.request import Request, settled_metrics
from opfield.ingest.sources import Asked, FileFacts, file_facts, option_files, sources_of
from opfield.ingest.spool import Spool, Told, read_samples, spooled
from opfield.metric import Metric

#: Relations over what was read, in the order in which they build on each other.
_RELATIONS: Final = (
    "mentions",
    "named_cases",
    "distinct_samples",
    "grid",
    "placed_samples",
    "missing_cells",
    "matches",
    "other_matches",
    "offences",
)
_MEMORY: Final = "400MB"
#: Things wrong that are listed one by one; the rest is counted.
_MOST_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class Arm:
    """A system as an arm of the campaign.

    Attributes:
        system: what its files say of it; its label is unique.
        is_baseline: whether the others are compared with it.
    """

    system: System
    is_baseline: bool

    @property
    def campaign_label(self) -> str:
        """What the campaign calls it: every baseline is `baseline`."""
        return BASELINE_LABEL if self.is_baseline else self.system.label


@dataclass(frozen=True, slots=True)
class Intake:
    """Everything that was read, with nothing in the way of recording it.

    Attributes:
        request: what was asked.
        folder: where the samples lie.
        con: connection that answers the relations over them.
        told: what files say beside samples.
        files: every file that was read.
        arms: systems, the baseline first.
        metrics: metrics of the campaign, in the order in which files state them.
        notes: what the user should know, what was counted included.
    """

    request: Request
    folder: Path
    con: duckdb.DuckDBPyConnection
    told: Told
    files: tuple[FileFacts, ...]
    arms: tuple[Arm, ...]
    metrics: tuple[Metric, ...]
    notes: tuple[Note, ...]

    @property
    def preferred(self) -> str:
        """Name of the metric that ranks candidates."""
        return self.request.metrics[0] if self.request.metrics else self.metrics[0].name

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Return the rows of a query over the relations."""
        return _rows(self.con, query)


@contextmanager
def open_intake(
    request: Request, folder: Path, advance: Callable[[int], None] = lambda _bytes: None
) -> Iterator[Intake]:
    """Read everything that was asked for into a folder, and decide what each sample is.

    Args:
        request: what is to be taken in.
        folder: an empty folder for what is read; the caller removes it.
        advance: told how many bytes were read since the last call.

    Raises:
        IngestError: listing everything that stands in the way.
        OpfieldError: where what the user asked for cannot be.
    """
    with _opening(folder) as opening:
        facts: list[FileFacts] = []
        try:
            with Spool(folder, request.renames) as spool:
                for asked in request.asked:
                    _read(asked, request, spool, facts, advance)
        except OSError as error:
            raise IngestError(
                f"{error.filename or folder} cannot be read or written: {error.strerror}; nothing was recorded"
            ) from None
        told = spool.told
        if told.refused:
            raise _refusal(told.refused)
        arms = _arms(told.systems, request)
        metrics = settled_metrics(told.metrics, request)
        con = opening.result()
        _install(con, folder, arms, request)
        offences = _rows(con, "from offences order by reason, place limit 1000")
        refused, gaps = _looked_through(folder, metrics)
        refused = [*map(_offence, offences), *refused]
        if refused:
            raise _refusal(refused)
        notes = (*told.notes, *_same_bytes(facts), *gaps, *_counted(con, told, request))
        yield Intake(request, folder, con, told, tuple(facts), arms, metrics, notes)


@contextmanager
def _opening(folder: Path) -> Iterator[Future[duckdb.DuckDBPyConnection]]:
    """Open a database while something else is done, and close it at the end.

    It has one thread: reading takes the time of a large intake, and of a small one handing parts of a query to others.
    """

    def connect() -> duckdb.DuckDBPyConnection:
        return duckdb.connect(config={"threads": 1, "memory_limit": _MEMORY, "temp_directory": str(folder / "spill")})

    with ThreadPoolExecutor(1, thread_name_prefix="opfield-intake") as pool:
        opening = pool.submit(connect)
        try:
            yield opening
        finally:
            opening.result().close()


def _read(asked: Asked, request: Request, spool: Spool, facts: list[FileFacts], advance: Callable[[int], None]) -> None:
    sources, notes = sources_of(asked)
    for note in notes:
        spool.take(note)
    named = [*sources, *option_files(asked.reader, asked.options)]
    before = _stamps(named)
    facts.extend(file_facts(named))
    metrics, optional = _asked_names(request)
    try:
        for record in asked.reader.read(Reading(sources, asked.options, metrics, advance, optional)):
            spool.take(record)
            if isinstance(record, System):
                spool.told.readers[record.key] = asked.reader.name
    except (OpfieldError, OSError, MemoryError):
        raise
    except Exception as error:
        # Readers come from anywhere: what one gives or raises that no reader may is its fault, not the user's.
        raise IngestError(
            f"the reader {asked.reader.name!r} is at fault, {type(error).__name__}: {error}; nothing was taken in. "
            f"Tell whoever keeps {asked.reader.read.__module__}, with the file that shows it"
        ) from error
    if _stamps(named) != before:
        changed = ", ".join(sorted({source.name for source, *_ in before ^ _stamps(named)}))
        raise IngestError(f"{changed} changed while it was read; wait until what writes it has ended, then try again")


def _asked_names(request: Request) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return under what names to ask for metrics, those that the user renames included, and which may be absent."""
    names: dict[str, None] = {}
    optional: set[str] = set()
    for metric in request.metrics:
        # A name that is given away means another metric.
        own = [] if request.renames.get(metric, metric) != metric else [metric]
        others = [old for old, new in request.renames.items() if new == metric]
        names.update(dict.fromkeys([*others, *own]))
        optional.update([*others, *own] if others else [])
    return tuple(names), frozenset(optional)


def _stamps(sources: Sequence[Source]) -> frozenset[tuple[Source, Path, int, int, int]]:
    """Return what changes where a file does: the size, the time and the number of each file."""
    found = set()
    for source in sources:
        for path in source.path.rglob("*") if source.path.is_dir() else [source.path]:
            with suppress(OSError):
                told = path.stat()
                found.add((source, path, told.st_size, told.st_mtime_ns, told.st_ino))
    return frozenset(found)


def _arms(systems: Sequence[System], request: Request) -> tuple[Arm, ...]:
    """Return the systems under labels of their own, the baseline first."""
    labels = [system.label for system in systems]
    told_apart = [
        replace(system, label=f"{system.label} ({system.place})") if labels.count(system.label) > 1 else system
        for system in systems
    ]
    if len({system.label for system in told_apart}) < len(told_apart):
        raise IngestError(f"system {max(labels, key=labels.count)!r} stands twice; the files say the same of both")
    listed = ", ".join(repr(system.label) for system in told_apart) or "none"
    if request.baseline is None:
        raise IngestError(f"which is the baseline? Name it with --baseline; the files hold {listed}")
    baseline = _named(request.baseline, told_apart, listed)
    if len(told_apart) < 2:
        raise IngestError(
            f"the files hold one system, {listed}, so that there is nothing to compare it with; name more"
        )
    for system in told_apart:
        check_label("system label", system.label)
    labels = [system.label for system in told_apart]
    other = f"{BASELINE_LABEL} (candidate)"
    while other in labels:
        other += "'"
    candidates = [
        replace(system, label=other) if system.label == BASELINE_LABEL else system
        for system in told_apart
        if system.key != baseline.key
    ]
    return (Arm(baseline, True), *(Arm(system, False) for system in sorted(candidates, key=lambda each: each.label)))


def _named(name: str, systems: Sequence[System], listed: str) -> System:
    """Return the one system that a name means: by label, then by alias."""
    found = [system for system in systems if system.label == name] or [
        system for system in systems if name in system.aliases
    ]
    if len(found) == 1:
        return found[0]
    what = "names no system" if not found else f"names {len(found)} systems"
    raise IngestError(f"--baseline {name!r} {what}; the files hold {listed}")


def _install(con: duckdb.DuckDBPyConnection, folder: Path, arms: Sequence[Arm], request: Request) -> None:
    con.execute("set variable pair_by = $1", [request.pairs_by])
    con.execute("set variable coupling = $1", [request.coupling])
    spooled(con, folder)
    con.execute(
        "create table systems (system varchar, label varchar, is_baseline boolean, run varchar, place varchar, "
        "position integer)"
    )
    con.executemany(
        "insert into systems values ($1, $2, $3, $4, $5, $6)",
        [
            [arm.system.key, arm.system.label, arm.is_baseline, arm.system.run, arm.system.place, position]
            for position, arm in enumerate(arms)
        ],
    )
    for name in _RELATIONS:
        sql = files("opfield.ingest").joinpath("sql", f"{name}.sql").read_text("utf-8")
        # What several relations read is worked out once.
        kind = "table" if name in ("mentions", "named_cases", "distinct_samples", "grid", "placed_samples") else "view"
        con.execute(f"create {kind} {name} as {sql}")


def _looked_through(folder: Path, metrics: Sequence[Metric]) -> tuple[list[Refused], list[Note]]:
    """Return the values that definitions do not allow, and how many samples that succeeded lack a value, and where."""
    definitions = {metric.name: metric for metric in metrics}
    refused: list[Refused] = []
    lacking: dict[tuple[str, str], list[str]] = {}
    for sample in read_samples(folder, ["place", "body"]):
        body = orjson.loads(sample["body"])
        for name, metric in definitions.items():
            value = body["values"].get(name)
            if value is not None:
                refusal = metric.refusal(value)
                if refusal is not None:
                    refused.append(Refused(sample["place"], refusal, "state the metric as it is, or mend the file"))
            elif body["status"] == Status.SUCCESS.value:
                reason = body["missing"].get(name, MissingReason.NOT_EMITTED.value)
                lacking.setdefault((name, reason), []).append(sample["place"])
    notes = [
        Note(f"samples without a value of {name} ({reason}): {len(places)}, such as {', '.join(places[:3])}", "")
        for (name, reason), places in sorted(lacking.items())
    ]
    return refused, notes


def _same_bytes(facts: Sequence[FileFacts]) -> Iterator[Note]:
    first: dict[str, str] = {}
    for each in facts:
        if each.digest in first and each.size_bytes and each.is_source:
            yield Note(f"holds the same bytes as {first[each.digest]}", each.name)
        if each.is_source:
            first.setdefault(each.digest, each.name)


def _counted(con: duckdb.DuckDBPyConnection, told: Told, request: Request) -> Iterator[Note]:
    """Yield what SQL counted: duplicates, matches, denominators.

    Raises:
        IngestError: where a candidate shares no case with the baseline.
    """
    (doubles,) = _rows(con, "select count(*) - (select count(*) from distinct_samples) as doubles from samples")
    if doubles["doubles"]:
        yield Note(f"exact duplicates dropped: {doubles['doubles']}", "")
    refused = []
    by = "what was asked" if request.pairs_by == "input" else "keys"
    for row in _rows(con, "from matches order by label"):
        if row["shared"] == row["of_baseline"] and not row["only_here"]:
            continue
        ways = _rows(con, "from other_matches where system = ? order by shared desc, way limit 3", [row["system"]])
        others = "; ".join(f"{way['way']} would pair {way['shared']}" for way in ways)
        if not row["shared"]:
            remedy = others or "no other way of writing keys pairs any; are these the same cases?"
            reason = f"shares no case with the baseline ({row['of_baseline']} there, {row['only_here']} here), by {by}"
            refused.append(Refused(row["label"], reason, remedy))
        else:
            text = (
                f"cases that pair by {by}: {row['shared']}; that do not, and stay as missing: "
                f"{row['of_baseline'] - row['shared']} of the baseline, {row['only_here']} of the candidate"
            )
            yield Note(f"{text}. {others[0].upper()}{others[1:]}" if others else text, row["label"])
    if refused:
        raise _refusal(refused)
    undeclared = _rows(con, "select count(*) as squares from grid where not is_declared and found > 0")
    if undeclared[0]["squares"]:
        yield Note("the files do not declare their trials: the denominator is what is there, not what was planned", "")
    extra = _rows(
        con,
        """
        select count(*) as cells
        from grid
        inner join (
            select system, identity, max(repeats) as declared
            from mentions
            where sample_ix is null
            group by system, identity
        ) as promises using (system, identity)
        where grid.found > promises.declared
        """,
    )
    if extra[0]["cells"]:
        yield Note(f"cases with more repeats than their file declares, all kept: {extra[0]['cells']}", "")
    uneven = _rows(
        con,
        """
        select count(*) as cases, min(case_id) as example
        from (select case_id from grid group by case_id having min(repeats) <> max(repeats))
        """,
    )
    if uneven[0]["cases"]:
        yield Note(
            f"cases that systems have unequal numbers of repeats of: {uneven[0]['cases']}, such as "
            f"{uneven[0]['example']}; what is there counts, since no file says that there should be more",
            "",
        )
    if told.naive_times:
        yield Note(
            f"samples whose times have no zone and are no instants: {told.naive_times}; the native evidence keeps "
            "the times",
            "",
        )


def _offence(row: dict[str, Any]) -> Refused:
    place = row["place"] if row["other_place"] in (None, row["place"]) else f"{row['place']} and {row['other_place']}"
    return Refused(place or "", row["reason"], row["remedy"])


def _refusal(refused: Sequence[Refused]) -> IngestError:
    told = [": ".join(filter(None, [each.place, f"{each.reason}; {each.remedy}"])) for each in refused]
    distinct = list(dict.fromkeys(told))
    if len(distinct) == 1:
        return IngestError(distinct[0])
    shown = "\n".join(f"  {line}" for line in distinct[:_MOST_LISTED])
    more = f"\n  and {len(distinct) - _MOST_LISTED} more" if len(distinct) > _MOST_LISTED else ""
    return IngestError(f"{len(distinct)} things stand in the way, and nothing was recorded:\n{shown}{more}")


def _rows(con: duckdb.DuckDBPyConnection, query: str, given: Sequence[Any] = ()) -> list[dict[str, Any]]:
    found = con.execute(query, list(given))
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
