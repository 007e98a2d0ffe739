"""asv (airspeed velocity): one file a commit and environment, benchmarks over the product of their parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

from opfield.core import Failure, MissingReason
from opfield.core.number import is_number
from opfield.ingest import json_stream
from opfield.ingest.readers.bench_rows import MEMORY, TIME, Row, mapping, sample_of, system_of, told_of
from opfield.ingest.records import OBSERVED, IngestError, MetricStated, Record, Refused, Source
from opfield.metric import Metric

_FAILED: Final = Failure("failed", "the benchmark failed, by asv's word")
#: Most cases that one benchmark spans; a product beyond it is no benchmark's.
_MOST_CASES: Final = 1_000_000


def is_asv(shell: Any) -> bool:
    """Return whether a document is a file of results of asv, of either layout."""
    return isinstance(shell.get("results"), dict) and "commit_hash" in shell


def is_asv_list(shell: Any) -> bool:
    """Return whether a document is asv's list of benchmarks, or its description of a machine."""
    values = [value for value in shell.values() if isinstance(value, dict)]
    is_list = bool(values) and all("code" in value and "name" in value for value in values)
    return is_list or {"machine", "arch", "os"} <= set(shell)


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """One benchmark's results: a figure for each combination of its parameters."""

    name: str
    parameters: list[list[str]]
    figures: list[Any]
    samples: list[Any]
    version: str | None
    started_at: str | None


def read_asv(
    source: Source, shell: Mapping[str, Any], versions: dict[str, str], asked: Sequence[str] = ()
) -> Iterator[Record]:
    """Yield the samples of each case, or the figure that stands for them where samples were not recorded.

    Args:
        source: the file.
        shell: its content.
        versions: benchmark to the first version of it that any file has; added to.
        asked: metrics asked for; a benchmark that measures another is left out. None where all are wanted.
    """
    commit = shell.get("commit_hash")
    says = {name: shell.get(name) for name in ("env_name", "python", "requirements", "env_vars", "params")}
    short = commit[:8] if isinstance(commit, str) else None
    yield system_of(source, "asv", {"commit": commit, **says}, commit, short)
    listed = _listed(source)
    stated: set[Metric] = set()
    without_samples = changed = left_out = 0
    for name, told in mapping(shell.get("results")).items():
        place = f"{source.name}: results[{name[:100]!r}]"
        benchmark = _benchmark(name, told, shell)
        if isinstance(benchmark, str):
            yield Refused(place, benchmark, "write the file again, or leave it out")
            continue
        if benchmark.version is not None:
            changed += versions.setdefault(name, benchmark.version) != benchmark.version
        metric = _metric(name, mapping(listed.get(name)))
        if metric not in stated:
            stated.add(metric)
            yield MetricStated(metric, place)
        if asked and metric.name not in asked:
            left_out += 1
            continue
        for at, row in _rows(benchmark, metric, place):
            without_samples += at
            yield sample_of(source.name, row)
    what = "cases without samples, for which asv's own figure stands (--record-samples keeps them)"
    yield from told_of(source, without_samples, what)
    what = "benchmarks of another version than in the files before, which asv itself would not compare"
    yield from told_of(source, changed, what)
    yield from told_of(source, left_out, f"benchmarks that measure none of {', '.join(asked)}, and were left out")


def _rows(benchmark: _Benchmark, metric: Metric, place: str) -> Iterator[tuple[bool, Row]]:
    """Yield each measurement, and whether it stands for samples that are not there."""
    groups = {"measures": metric.name}
    for at, combination in enumerate(product(*benchmark.parameters)):
        here = f"{place}[{at}]"
        figure, samples = benchmark.figures[at], benchmark.samples[at]
        whole = Row(
            f"{benchmark.name}({', '.join(combination)})" if combination else benchmark.name,
            here,
            {},
            repeat=None,
            groups=groups,
            started_at=benchmark.started_at,
        )
        if figure is None:
            yield False, replace(whole, failure=_FAILED)
        elif isinstance(figure, float) and math.isnan(figure):  # skipped for these parameters
            yield False, replace(whole, missing={metric.name: MissingReason.NOT_APPLICABLE})
        elif isinstance(samples, list) and samples:
            for number, raw in enumerate(samples):
                yield False, replace(whole, place=f"{here}.samples[{number}]", raw={metric: raw}, repeat=OBSERVED)
        else:
            yield True, replace(whole, raw={metric: figure})


def _benchmark(name: str, told: Any, shell: Mapping[str, Any]) -> _Benchmark | str:
    """Return a benchmark of either layout, or what is wrong with it."""
    columns = shell.get("result_columns")
    if isinstance(columns, list):
        if not isinstance(told, list):
            return f"it holds {type(told).__name__}, where a list by result_columns is due"
        row: Mapping[str, Any] = dict(zip(map(str, columns), told, strict=False))
    elif isinstance(told, dict):
        row = told
    else:  # the oldest layout: the figure alone
        row = {"result": told}
    parameters = row.get("params") or []
    if not isinstance(parameters, list) or not all(isinstance(values, list) for values in parameters):
        return "its params are no lists of values"
    texts = [[str(value) for value in values] for values in parameters]
    cases = math.prod(len(values) for values in texts)
    if cases > _MOST_CASES:
        return f"its parameters span {cases} cases, more than {_MOST_CASES}"
    figures = row.get("result")
    figures = [None] * cases if figures is None else figures if isinstance(figures, list) else [figures]
    if len(figures) != cases:
        return f"it has {len(figures)} results for {cases} combinations of parameters"
    if any(len(set(values)) < len(values) for values in texts):
        return "a parameter has one value twice"
    samples = row.get("samples")
    if not isinstance(samples, list):
        samples = [None] * cases
    elif not texts and len(samples) != 1:  # the older layout has one list, not a list of one
        samples = [samples]
    if len(samples) != cases:
        return f"it has samples of {len(samples)} cases for {cases} combinations of parameters"
    version, started = row.get("version"), row.get("started_at", mapping(shell.get("started_at")).get(name))
    return _Benchmark(name, texts, figures, samples, version if isinstance(version, str) else None, _instant(started))


def _metric(name: str, listed: Mapping[str, Any]) -> Metric:
    """Return what a benchmark measures: by asv's list of benchmarks, or by the prefix that asv itself goes by."""
    kind = listed.get("type")
    prefix = name.rpartition(".")[2].partition("_")[0]
    if kind == "time" or (kind is None and prefix in ("time", "timeraw")):
        return TIME
    if kind == "memory" or (kind is None and prefix == "mem"):
        return MEMORY
    if kind == "peakmemory" or (kind is None and prefix == "peakmem"):
        return Metric("peak_memory", "minimize", unit="B", lower=0.0, description="most memory of the process")
    unit = listed.get("unit")
    unit = unit if isinstance(unit, str) and unit.strip() and unit.isprintable() and len(unit) < 50 else None
    of_unit = f" ({unit})" if unit and unit != "unit" else ""
    return Metric(f"track{of_unit}", "minimize", unit=unit, description="tracked figure; asv takes less for better")


def _listed(source: Source) -> Mapping[str, Any]:
    """Return asv's list of benchmarks from beside the file's folder, where it keeps it."""
    path = source.path.absolute().parent.parent / "benchmarks.json"
    try:
        return mapping(json_stream.json_shell(Source(path, path.name), ())) if path.is_file() else {}
    except (IngestError, OSError):
        return {}


def _instant(milliseconds: Any) -> str | None:
    if not is_number(milliseconds) or not 0 <= milliseconds < 253_402_300_800_000:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
