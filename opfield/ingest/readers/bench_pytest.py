"""pytest-benchmark: one file a session, rounds where they were saved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from opfield.core.number import is_number
from opfield.ingest import files, json_stream
from opfield.ingest.readers.bench_rows import TIME, Row, differs, mapping, repeated, sample_of, system_of, told_of
from opfield.ingest.records import MetricStated, Note, Record, Refused, Source

# What describes the machine's software, not the hour at which it ran.
_MACHINE = ("python_implementation", "python_version", "python_compiler", "system", "machine", "processor")


def is_pytest(shell: Any) -> bool:
    """Return whether a document without its rows is one of pytest-benchmark."""
    return "benchmarks" in shell and ("machine_info" in shell or "commit_info" in shell)


def read_pytest(source: Source, shell: Mapping[str, Any], advance: files.Advance) -> Iterator[Record]:
    """Yield the rounds of each benchmark; where they were not saved, the mean that the file states is the one cell."""
    commit = mapping(shell.get("commit_info"))
    machine = mapping(shell.get("machine_info"))
    says = {
        "version": shell.get("version"),
        "commit": commit.get("id"),
        "is_dirty": commit.get("dirty"),
        "branch": commit.get("branch"),
        "machine": {name: machine[name] for name in _MACHINE if name in machine},
    }
    yield system_of(source, "pytest-benchmark", says, commit.get("id"))
    yield MetricStated(TIME, source.name)
    places: dict[str, list[str]] = {}
    without_rounds = 0
    for index, item in enumerate(json_stream.json_items(source, "benchmarks.item", advance)):
        place = f"{source.name}: benchmarks[{index}]"
        name = mapping(item).get("fullname") or mapping(item).get("name")
        if not isinstance(name, str):
            yield Refused(place, "it has no name", "leave it out")
            continue
        places.setdefault(name, []).append(place)
        stats = mapping(item.get("stats"))
        group = item.get("group")
        groups = {"group": group} if isinstance(group, str) and group else {}
        rounds = stats.get("data")
        if isinstance(rounds, list) and rounds:
            for at, raw in enumerate(rounds):
                row = Row(name, f"{place}.stats.data[{at}]", {TIME: raw}, groups=groups)
                yield sample_of(source.name, row)
            yield from _checked(rounds, stats, place)
        else:
            without_rounds += 1
            mean = f"{place}.stats.mean"
            yield sample_of(source.name, Row(name, mean, {TIME: stats.get("mean")}, repeat=None, groups=groups))
    yield from repeated(places, "keep one of them")
    what = "benchmarks without their rounds, whose stated mean stands for them (--benchmark-save-data keeps rounds)"
    yield from told_of(source, without_rounds, what)


def _checked(rounds: list[Any], stats: Mapping[str, Any], place: str) -> Iterator[Note]:
    declared, mean = stats.get("rounds"), stats.get("mean")
    if is_number(declared) and declared != len(rounds):
        yield Note(f"{declared} rounds are stated, and {len(rounds)} are there", place)
    if is_number(mean) and all(is_number(one) for one in rounds):
        found = math.fsum(rounds) / len(rounds)
        if differs(mean, found):
            yield Note(f"a mean of {mean:g} s is stated, and its rounds have {found:g} s", place)
