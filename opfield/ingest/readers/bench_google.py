"""google-benchmark: one row a repetition, and aggregates beside them that are never measurements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from opfield.core import Failure, MissingReason
from opfield.core.number import is_number
from opfield.ingest import files, json_stream
from opfield.ingest.readers.bench_rows import CPU_TIME, TIME, Row, differs, mapping, sample_of, system_of, told_of
from opfield.ingest.records import CaseRef, Expected, MetricStated, Note, Record, Refused, Source, Stated
from opfield.metric import Metric

_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What a row says of itself; every other number in it is a counter.
_OWN: Final = frozenset(
    {
        "name",
        "run_name",
        "run_type",
        "repetitions",
        "repetition_index",
        "threads",
        "iterations",
        "real_time",
        "cpu_time",
        "time_unit",
        "label",
        "error_occurred",
        "error_message",
        "skipped",
        "skip_message",
        "family_index",
        "per_family_instance_index",
        "aggregate_name",
        "aggregate_unit",
    }
)
_CONTEXT: Final = ("library_version", "library_build_type", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled")
_SUFFIX: Final = re.compile(r"(.+)_(mean|median|stddev|cv|BigO|RMS)$")


def is_google(shell: Any) -> bool:
    """Return whether a document without its rows is one of google-benchmark."""
    return "benchmarks" in shell and set(shell) <= {"context", "benchmarks"}


def read_google(source: Source, shell: Mapping[str, Any], advance: files.Advance) -> Iterator[Record]:
    """Yield each repetition; aggregates are stated figures, or the only trace of a benchmark, whose cell is missing."""
    context = mapping(shell.get("context"))
    says = {name: context.get(name) for name in _CONTEXT}
    executable = context.get("executable")
    if isinstance(executable, str):
        says["executable"] = re.split(r"[/\\]", executable)[-1]
    yield system_of(source, "google-benchmark", says)
    for metric in (TIME, CPU_TIME):
        yield MetricStated(metric, source.name)
    counters: dict[str, Metric] = {}
    measured: dict[str, list[float]] = {}
    aggregates: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for index, item in enumerate(json_stream.json_items(source, "benchmarks.item", advance)):
        place = f"{source.name}: benchmarks[{index}]"
        row = mapping(item)
        name = row.get("run_name") or row.get("name")
        if not isinstance(name, str):
            yield Refused(place, "it has no name", "leave it out")
            continue
        scale = _SECONDS.get(str(row.get("time_unit", "ns")))
        if scale is None:
            yield Refused(place, f"time_unit {str(row['time_unit'])[:20]!r} is none of ns, us, ms, s", "mend it")
            continue
        suffixed = _SUFFIX.match(name) if "run_type" not in row else None
        if row.get("run_type") == "aggregate" or (suffixed and suffixed[1] in measured):
            aggregates.setdefault(suffixed[1] if suffixed else name, []).append((place, row))
            continue
        for counter in _counters_of(row):
            if counter not in counters:
                counters[counter] = _counter(counter)
                yield MetricStated(counters[counter], place)
        of_row = {counters[counter]: row[counter] for counter in _counters_of(row)}
        sample = sample_of(source.name, _row(name, place, row, scale, of_row))
        yield sample
        measured.setdefault(name, [])
        time = row.get("real_time")
        if is_number(time) and not isinstance(sample, Refused) and sample.failure is None:
            measured[name].append(time * scale)
    yield from _aggregated(source, measured, aggregates)


def _row(name: str, place: str, row: Mapping[str, Any], scale: float, counters: Mapping[Metric, Any]) -> Row:
    if row.get("error_occurred"):
        message = row.get("error_message")
        failure = Failure("error_occurred", message if isinstance(message, str) and message else "no message")
        return Row(name, place, {}, failure)
    if row.get("skipped"):
        why = {metric.name: MissingReason.NOT_APPLICABLE for metric in (TIME, CPU_TIME)}
        return Row(name, place, {}, missing=why)
    times = {metric: row.get(member) for metric, member in ((TIME, "real_time"), (CPU_TIME, "cpu_time"))}
    scaled = {metric: raw * scale if is_number(raw) else raw for metric, raw in times.items()}
    return Row(name, place, {**scaled, **counters})


def _counters_of(row: Mapping[str, Any]) -> list[str]:
    names = [name for name, value in row.items() if name not in _OWN and is_number(value) and _can_name(name)]
    return [] if row.get("error_occurred") or row.get("skipped") else names


def _can_name(name: str) -> bool:
    return bool(name.strip()) and name.isprintable() and len(name) <= 100


def _counter(name: str) -> Metric:
    is_rate = name.endswith("_per_second")
    return Metric(
        f"counter {name}" if name in (TIME.name, CPU_TIME.name) else name,
        "maximize" if is_rate else "minimize",
        description="counter of the benchmark; the tool does not say whether more of it is better",
    )


def _aggregated(
    source: Source,
    measured: Mapping[str, list[float]],
    aggregates: Mapping[str, list[tuple[str, Mapping[str, Any]]]],
) -> Iterator[Record]:
    for name, rows in aggregates.items():
        # A complexity is fitted over other benchmarks: it is no case of its own.
        if name not in measured and not all(_kind(row) in ("BigO", "RMS") for _, row in rows):
            yield Expected(source.name, CaseRef(name), rows[0][0])
            yield Note(f"benchmark {name[:60]!r} has aggregates alone, which are no measurements", rows[0][0])
        for place, row in rows:
            raw, times = row.get("real_time"), measured.get(name)
            if _kind(row) != "mean" or not is_number(raw) or not times:
                continue
            stated = raw * _SECONDS[str(row.get("time_unit", "ns"))]
            if len(measured) == 1:  # only then is it a mean over all that the file has
                yield Stated(source.name, "mean", stated, place, TIME.name, "mean")
            found = math.fsum(times) / len(times)
            if differs(stated, found):
                yield Note(f"a mean of {stated:g} s is stated, and its repetitions have {found:g} s", place)
    count = sum(len(rows) for rows in aggregates.values())
    yield from told_of(source, count, "aggregates (means, medians and the like) that are no measurements")


def _kind(row: Mapping[str, Any]) -> str | None:
    kind = row.get("aggregate_name")
    suffixed = _SUFFIX.match(str(row.get("name")))
    return kind if isinstance(kind, str) else suffixed[2] if suffixed else None
