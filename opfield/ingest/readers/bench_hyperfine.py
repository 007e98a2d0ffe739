"""hyperfine: runs of commands, each with its time and exit code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from opfield.core import Failure
from opfield.core.number import is_number
from opfield.ingest import files, json_stream
from opfield.ingest.readers.bench_rows import (
    CPU_TIME,
    MEMORY,
    TIME,
    Row,
    differs,
    mapping,
    repeated,
    sample_of,
    system_of,
    told_of,
)
from opfield.ingest.records import MetricStated, Note, Record, Refused, Source
from opfield.metric import Metric

_SCALES: Final = {"second": 1.0, "millisecond": 1e-3, "microsecond": 1e-6, "nanosecond": 1e-9, "byte": 1.0}
_MEASURED: Final = ((TIME, "time_wall_clock"), (CPU_TIME, "time_cpu"), (MEMORY, "memory_peak_resident"))


def is_hyperfine(shell: Any) -> bool:
    """Return whether a document without its rows is one of hyperfine."""
    return isinstance(shell.get("results"), list) and set(shell) <= {
        "results",
        "schema_version",
        "metadata",
        "primary_metric",
    }


def read_hyperfine(source: Source, shell: Mapping[str, Any], advance: files.Advance) -> Iterator[Record]:
    """Yield each run of each command; one that exited with another code than 0 failed."""
    metadata = mapping(shell.get("metadata"))
    says = {"version": metadata.get("hyperfine_version"), "platform": metadata.get("platform")}
    yield system_of(source, "hyperfine", says)
    stated: set[Metric] = set()
    places: dict[str, list[str]] = {}
    without_runs = 0
    for index, item in enumerate(json_stream.json_items(source, "results.item", advance)):
        place = f"{source.name}: results[{index}]"
        result = mapping(item)
        command = result.get("name") or result.get("command")
        if not isinstance(command, str):
            yield Refused(place, "it has no command", "leave it out")
            continue
        parameters = ", ".join(f"{name}={value}" for name, value in mapping(result.get("parameters")).items())
        case = f"{command} [{parameters}]" if parameters else command
        places.setdefault(case, []).append(place)
        rows = list(_rows(result, case, place))
        without_runs += not isinstance(result.get("times") or result.get("measurements"), list)
        for row in rows:
            for metric in row.raw:
                if metric not in stated:
                    stated.add(metric)
                    yield MetricStated(metric, place)
            yield sample_of(source.name, row)
        times = [row.raw.get(TIME) for row in rows]
        mean = result.get("mean")
        if is_number(mean) and times and all(is_number(time) for time in times):
            found = math.fsum(time for time in times if is_number(time)) / len(times)
            if differs(mean, found):
                yield Note(f"a mean of {mean:g} s is stated, and its runs have {found:g} s", place)
    yield from repeated(places, "tell them apart with --command-name, or keep one of them")
    yield from told_of(source, without_runs, "commands without their runs, whose stated mean stands for them")


def _rows(result: Mapping[str, Any], case: str, place: str) -> Iterator[Row]:
    times, runs = result.get("times"), result.get("measurements")
    if isinstance(times, list) and times:
        codes, memory = result.get("exit_codes"), result.get("memory_usage_byte")
        for at, time in enumerate(times):
            raw = {TIME: time}
            if isinstance(memory, list) and at < len(memory):
                raw[MEMORY] = memory[at]
            failure = _failure(codes[at]) if isinstance(codes, list) and at < len(codes) else None
            yield Row(case, f"{place}.times[{at}]", raw, failure)
    elif isinstance(runs, list) and runs:
        for at, run in enumerate(map(mapping, runs)):
            raw = {metric: _scaled(run[name]) for metric, name in _MEASURED if name in run}
            failure = _failure(run["exit_code"]) if "exit_code" in run else None
            yield Row(case, f"{place}.measurements[{at}]", raw or {TIME: None}, failure)
    else:
        yield Row(case, f"{place}.mean", {TIME: result.get("mean")}, repeat=None)


def _failure(code: Any) -> Failure | None:
    if code is None:
        return Failure("exit_code", "the command was ended by a signal")
    return None if code == 0 and not isinstance(code, bool) else Failure("exit_code", f"exit code {str(code)[:20]}")


def _scaled(figure: Any) -> Any:
    value = mapping(figure).get("value")
    scale = _SCALES.get(str(mapping(figure).get("unit")))
    if scale is None:
        return f"of unit {mapping(figure).get('unit')}"
    return value * scale if is_number(value) else value
