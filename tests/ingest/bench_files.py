"""Results of benchmark tools, made up in the shapes that the tools write."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from opfield.ingest.readers.bench import reader
from opfield.ingest.records import (
    Record,
    Sample,
)
from tests.ingest.reading import only, read


def read_json(tmp_path: Path, document: Any, name: str = "run.json") -> list[Record]:
    path = tmp_path / name
    path.write_text(json.dumps(document))
    return read(reader, path)


def cells(records: list[Record]) -> dict[Any, list[dict[str, float]]]:
    """Return the values of each case, in the order of its repeats."""
    found: dict[Any, list[dict[str, float]]] = {}
    for sample in only(Sample, records):
        found.setdefault(sample.case.key, []).append(dict(sample.values))
    return found


def session(*benchmarks: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine_info": {"node": "host", "python_version": "3.12.1"},
        "commit_info": {"id": "0123456789abcdef", "dirty": False, "branch": "main"},
        "benchmarks": list(benchmarks),
        "datetime": "2026-01-02T03:04:05",
        "version": "5.1.0",
    }


def timed(name: str, rounds: list[Any], group: str | None = None, /, **stats: Any) -> dict[str, Any]:
    stats = {"rounds": len(rounds), "mean": math.fsum(rounds) / len(rounds), "data": rounds} | stats
    return {"fullname": f"tests/test_x.py::{name}", "name": name, "group": group, "stats": stats}


def suite(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"context": {"date": "2026-01-02", "num_cpus": 4, "executable": "bench"}, "benchmarks": list(rows)}


def iteration(name: str, real: Any, cpu: Any = 1, unit: str = "ns", **more: Any) -> dict[str, Any]:
    row = {"name": name, "run_name": name, "run_type": "iteration", "iterations": 10}
    return row | {"real_time": real, "cpu_time": cpu, "time_unit": unit} | more


def aggregate(name: str, kind: str, real: float, unit: str = "ns") -> dict[str, Any]:
    row = {"name": f"{name}_{kind}", "run_name": name, "run_type": "aggregate", "aggregate_name": kind}
    return row | {"real_time": real, "cpu_time": 1, "time_unit": unit}


def results(found: dict[str, Any], **more: Any) -> dict[str, Any]:
    columns = ["result", "params", "version", "started_at", "duration", "samples"]
    return {
        "commit_hash": "fedcba9876543210",
        "env_name": "virtualenv-py3.12",
        "params": {"machine": "host", "python": "3.12"},
        "python": "3.12",
        "requirements": {},
        "result_columns": columns,
        "results": found,
        "version": 2,
    } | more


def commands(*found: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(found)}
