"""Inspect AI: its `.eval` archives and JSON logs, whatever they are named.

A case is a sample id in a task. The dataset is no part of it, since its name often holds a folder of the machine; tasks
of one name over other data show by what their samples ask. Ids that Inspect counts from 1 are positions: where a
dataset was shuffled, a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from opfield.core import Status
from opfield.errors import DeclarationError, unknown_name
from opfield.ingest.keys import checked
from opfield.ingest.readers.inspect_header import (
    declared_ids,
    epochs_of,
    figures_of,
    has_scorers,
    is_finished,
    is_shuffled,
    place_of,
    planned_samples,
    task_of,
    text_of,
)
from opfield.ingest.readers.inspect_log import UNSTATED_VERSION, Log, looks_like_log, only_scorer, open_log
from opfield.ingest.readers.inspect_sample import Setting, Tally, sample_of
from opfield.ingest.readers.inspect_scores import Shape, metric_of
from opfield.ingest.readers.inspect_systems import systems_of
from opfield.ingest.records import (
    CaseRef,
    Expected,
    Key,
    MetricStated,
    Note,
    Reader,
    ReaderOption,
    Reading,
    Record,
    Refused,
    Sample,
    Stated,
)

_ERRORS: Final = {
    "infrastructure_failure": Status.INFRASTRUCTURE_FAILURE,
    "domain_failure": Status.DOMAIN_FAILURE,
}
_CHOICES: Final = {"by": ("file", "model"), "errors": tuple(_ERRORS), "via": ("auto", "plain", "tool")}


@dataclass(slots=True)
class _Seen:
    """What the samples of one log turned out to be, to be set beside what its header declares.

    Attributes:
        keys: ids by their text; more than one where a text stands in two types.
        carried: number of samples.
        unscored: number of samples that failed in nothing and yet have no score.
    """

    keys: dict[str, set[Key]] = field(default_factory=dict)
    carried: int = 0
    unscored: int = 0


def _read(reading: Reading) -> Iterator[Record]:
    for option, choices in _CHOICES.items():
        if reading.options.get(option) not in choices:
            raise unknown_name(f"--{option}", str(reading.options.get(option)), choices)
    # Every header and the scores come before the first sample: a metric has one definition over all files.
    logs = [open_log(source, reading.options["via"], reading.advance) for source in reading.sources]
    systems, keys = systems_of(logs, reading.options["by"])
    yield from systems
    shapes = _shapes(logs)
    yield from _metrics(logs, shapes)
    tasks = {task_of(log) for log in logs}
    #: Groups of a case are known by its samples; a case that one log lacks has them from the others.
    groups: dict[tuple[str, type[Key], Key], Mapping[str, str]] = {}
    seen: list[_Seen] = []
    for log, system in zip(logs, keys, strict=True):
        setting = Setting(
            system,
            task_of(log),
            log.survey,
            only_scorer(log.header),
            has_scorers(log),
            is_finished(log),
            _ERRORS[reading.options["errors"]],
            groups={"task": task_of(log)} if len(tasks) > 1 and task_of(log) else {},
            group_keys=tuple(reading.options["group"] or ()),
            keeps_events=bool(reading.options["events"]),
        )
        seen.append(_Seen())
        yield from _samples(log, setting, reading, shapes, groups, seen[-1])
        yield from figures_of(log, system)
    for log, system, found in zip(logs, keys, seen, strict=True):
        yield from _expected(log, system, groups, found, len(tasks) > 1)
        yield from _notes(log, system, found)


def _shapes(logs: Sequence[Log]) -> dict[str, set[Shape]]:
    shapes: dict[str, set[Shape]] = {}
    for log in logs:
        for metric, kinds in log.survey.shapes.items():
            shapes.setdefault(metric, set()).update(kinds)
    return shapes


def _metrics(logs: Sequence[Log], shapes: Mapping[str, set[Shape]]) -> Iterator[MetricStated | Refused]:
    """Announce every metric that a sample or a stated figure is of, each once."""
    places: dict[str, str] = {}
    for log in logs:
        stated = [figure.metric for figure in figures_of(log, "") if isinstance(figure, Stated)]
        for metric in (*log.survey.shapes, *stated):
            if metric is not None:
                places.setdefault(metric, f"{log.source.name}: scores")
    for metric, place in places.items():
        try:
            yield MetricStated(metric_of(metric, shapes.get(metric, ())), place)
        except DeclarationError as error:
            yield Refused(place, str(error), "rename the scorer, or the key of its value, and score the log again")


def _samples(
    log: Log,
    setting: Setting,
    reading: Reading,
    shapes: Mapping[str, set[Shape]],
    groups: dict[tuple[str, type[Key], Key], Mapping[str, str]],
    seen: _Seen,
) -> Iterator[Record]:
    tally = Tally()
    for place, raw in log.samples(reading.advance):
        seen.carried += 1
        try:
            record = sample_of(raw, place, setting, tally)
        except RecursionError:
            record = Refused(place, "the sample nests too deep to be a result", "leave it out")
        if isinstance(record, Sample):
            key = record.case.key
            seen.keys.setdefault(str(key), set()).add(key)
            if record.groups:
                groups.setdefault((setting.suite, type(key), key), record.groups)
            is_failed = record.failure is not None and record.failure.code != "unscored"
            seen.unscored += not is_failed and not record.values and not record.missing
            yield from _contradictions(record, shapes)
        yield record
    yield from _counted(log, tally)


def _contradictions(sample: Sample, shapes: Mapping[str, set[Shape]]) -> Iterator[Refused]:
    """Refuse values that the log's own summaries deny."""
    for metric, value in sample.values.items():
        try:
            why = (
                metric_of(metric, shapes[metric]).refusal(value)
                if metric in shapes
                else f"metric {metric!r} stands in no summary"
            )
        except DeclarationError:
            continue  # already refused by its name
        if why is not None:
            remedy = "the summaries of the log say otherwise: score it again with `inspect score`"
            yield Refused(sample.place, why, remedy)


def _counted(log: Log, tally: Tally) -> Iterator[Note]:
    place = log.source.name
    for limit, count in sorted(tally.limits.items()):
        yield Note(f"{_many(count, 'sample')} hit the {limit} limit and counted as scored, as Inspect has it", place)
    for metric, count in sorted(tally.texts.items()):
        shown = f"{tally.example[metric]!r:.60}"
        yield Note(
            f"{_many(count, 'value')} of {metric} no number, such as {shown}; missing here, 0 in Inspect's means",
            place,
        )
    for key, count in sorted(tally.ungrouped.items()):
        yield Note(f"{_many(count, 'sample')} without a short value of metadata {key!r}, so in no such group", place)
    if tally.invalidated:
        yield Note(f"{_many(tally.invalidated, 'sample')} marked as invalid, so failed", place)


def _expected(
    log: Log,
    system: str,
    groups: Mapping[tuple[str, type[Key], Key], Mapping[str, str]],
    seen: _Seen,
    has_tasks: bool,
) -> Iterator[Expected | Note | Refused]:
    """Yield what a log's header declares, by ids of the type that its samples have.

    Inspect tells the samples of one log apart by the text of their ids, so that a header and a sample of one log mean
    one case; across logs the types stay apart.
    """
    suite, epochs, place = task_of(log), epochs_of(log), place_of(log)
    retyped = 0
    for declared in declared_ids(log):
        known = seen.keys.get(str(declared), set())
        matching = [key for key in known if type(key) is type(declared)]
        key = declared if matching or len(known) != 1 else next(iter(known))
        retyped += key is not declared and type(key) is not type(declared)
        if not str(key) or "\0" in str(key):
            yield Refused(place, f"sample_ids holds {key!r}, which is no id", "write the log again without it")
            continue
        default = {"task": suite} if has_tasks and suite else {}
        yield Expected(
            system,
            CaseRef(key, suite),
            place,
            epochs,
            absence="missing" if is_finished(log) else "not_finished",
            groups=groups.get((suite, type(key), key), default),
        )
    if retyped:
        yield Note(
            f"{_many(retyped, 'id')} in eval.dataset.sample_ids of another type than in the samples; theirs counts",
            place,
        )


def _notes(log: Log, system: str, seen: _Seen) -> Iterator[Note | Stated]:
    place, header = place_of(log), log.header
    if "version" not in header:
        yield Note(f"no version is stated; read as version {UNSTATED_VERSION}", place)
    if not is_finished(log):
        error = header.get("error")
        why = f": {text_of(error.get('message'))[:200]}" if isinstance(error, Mapping) else ""
        yield Note(f"the run is {header.get('status', 'started')!s:.40}, not finished{why}", place)
    if log.relogged:
        yield Note(f"{_many(log.relogged, 'sample record')} replaced by a later one of the same sample", place)
    planned = planned_samples(log)
    if planned is not None and planned[0] != seen.carried:
        yield Note(f"the log states {_many(planned[0], 'sample')} ({planned[1]}) and carries {seen.carried}", place)
        if planned[1] != "results.total_samples":
            yield Stated(system, "samples", planned[0], place, name=planned[1])
    elif not seen.carried:
        yield Note("the log carries no samples", place)
    if seen.unscored and not log.survey.shapes:
        what = "its scorers scored none" if has_scorers(log) else "it has no scorer"
        yield Note(f"nothing is scored of {_many(seen.unscored, 'sample')}: {what}; `inspect score` can do it", place)
    if is_shuffled(log) and _are_positions(seen):
        yield Note("the dataset was shuffled and its ids count from 1: they may be positions", place)


def _are_positions(seen: _Seen) -> bool:
    keys = {key for known in seen.keys.values() for key in known}
    return bool(keys) and keys == set(range(1, len(keys) + 1))


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


reader = Reader(
    name="inspect",
    description="Inspect AI: .eval and .json logs, epochs as repeats, every scorer a metric",
    version="1",
    read=checked(_read),
    recognizes=looks_like_log,
    options=(
        ReaderOption("by", "what is one system: each `file`, or each `model` over all its tasks", default="file"),
        ReaderOption(
            "errors",
            "what an error of a sample is: `infrastructure_failure`, or `domain_failure` where the system is to blame",
            default="infrastructure_failure",
        ),
        ReaderOption("group", "a key of the samples' metadata that is a group of cases", is_repeatable=True),
        ReaderOption("events", "keep the events of every sample as evidence too", type=bool, default=False),
        ReaderOption(
            "via",
            "`plain` reads the format itself, `tool` through Inspect, `auto` plainly where the version is known",
            default="auto",
        ),
    ),
    tool="inspect_ai",
)
