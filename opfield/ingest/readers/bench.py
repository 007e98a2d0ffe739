"""Benchmark tools: pytest-benchmark, google-benchmark, asv and hyperfine; a file is a system, a round a repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from opfield.ingest import files, json_stream
from opfield.ingest.keys import checked
from opfield.ingest.readers.bench_asv import is_asv, is_asv_list, read_asv
from opfield.ingest.readers.bench_google import is_google, read_google
from opfield.ingest.readers.bench_hyperfine import is_hyperfine, read_hyperfine
from opfield.ingest.readers.bench_pytest import is_pytest, read_pytest
from opfield.ingest.records import Expected, IngestError, Reader, Reading, Record, Refused, Sample, Source

_ROWS = ("benchmarks", "results")


def read(reading: Reading) -> Iterator[Record]:
    """Yield what benchmark files hold, each by its own tool.

    Raises:
        IngestError: where a file is none of theirs, or damaged.
    """
    if not reading.sources:
        raise IngestError("no file is named; name at least one file of benchmark results")
    versions: dict[str, str] = {}
    for source in reading.sources:
        shell = json_stream.json_shell(source, _ROWS)
        if not isinstance(shell, dict):
            raise _foreign(source, f"it holds a {type(shell).__name__}")
        if is_pytest(shell):
            rows = read_pytest(source, shell, reading.advance)
        elif is_asv(shell):
            reading.advance(source.path.stat().st_size)
            rows = read_asv(source, shell, versions, reading.metrics)
        elif is_hyperfine(shell):
            rows = read_hyperfine(source, shell, reading.advance)
        elif is_google(shell):
            rows = read_google(source, shell, reading.advance)
        elif is_asv_list(shell):
            raise _foreign(source, "it is asv's own list, of benchmarks or of a machine, and holds no results")
        else:
            raise _foreign(source, f"it has {', '.join(map(repr, list(shell)[:5])) or 'nothing'}")
        yield from _with_samples(source, rows, reading.metrics)


def _with_samples(source: Source, rows: Iterator[Record], asked: Sequence[str]) -> Iterator[Record]:
    """Yield the records, and refuse a file that holds no benchmark."""
    has_benchmark = False
    for record in rows:
        has_benchmark = has_benchmark or isinstance(record, Sample | Expected | Refused)
        yield record
    if not has_benchmark:
        measured = f", or none that measures {', '.join(asked)}" if asked else ""
        yield Refused(source.name, f"it holds no benchmark{measured}", "leave it out, or write it again")


def _foreign(source: Source, what: str) -> IngestError:
    return IngestError(
        f"{source.name} is no results of pytest-benchmark, google-benchmark, asv or hyperfine: {what}; leave it out"
    )


def recognizes(path: Path) -> bool:
    """Return whether a file begins as results of one of the tools do; rows may come first, so names of theirs count."""
    if not path.name.endswith((".json", ".json.gz")) or path.name in ("benchmarks.json", "machine.json"):
        return False
    try:
        with files.open_file(Source(path, path.name)) as raw:
            head = files.expanded(raw, Source(path, path.name)).peek(4096)[:4096]
    except IngestError:
        return False
    return _begins_like_results(head.removeprefix(b"\xef\xbb\xbf").lstrip())


def _begins_like_results(head: bytes) -> bool:
    if not head.startswith(b"{"):
        return False
    names: set[Any] = set(re.findall(rb'"([a-z_]+)"\s*:', head))
    is_list = {b"benchmarks"} <= names and bool(
        names & {b"machine_info", b"commit_info", b"stats", b"real_time", b"cpu_time", b"run_type", b"run_name"}
    )
    is_google = {b"context", b"num_cpus"} <= names
    is_asv = b"commit_hash" in names and bool(names & {b"env_name", b"result_columns", b"requirements"})
    is_hyperfine = {b"results", b"command"} <= names and bool(
        names & {b"mean", b"times", b"measurements", b"exit_codes"}
    )
    # The machine and the commit may stand after the first four kilobytes of rounds, and alone before them.
    is_pytest = {b"machine_info"} <= names and bool(names & {b"python_version", b"commit_info", b"node"})
    return is_list or is_google or is_asv or is_hyperfine or is_pytest


reader = Reader(
    name="bench",
    description="results of pytest-benchmark, google-benchmark, asv and hyperfine; rounds are repeats",
    version="1",
    read=checked(read),
    recognizes=recognizes,
)
