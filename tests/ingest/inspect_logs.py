"""Small logs in the shapes that Inspect writes."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import MetricStated, Note, Record, Sample
from opfield.metric import Metric
from tests.ingest.reading import only, read

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

ZSTANDARD = 93


def sample(key: Any, epoch: int = 1, scores: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a sample; `scores` holds the values of its scorers."""
    held = {scorer: {"value": value} for scorer, value in (scores or {}).items()}
    made = {"id": key, "epoch": epoch, "input": f"What is {key}?", "target": "x", "scores": held, "metadata": {}}
    return made | more


def header(
    ids: Sequence[Any] | None = None, *, epochs: int | None = 1, status: str = "success", **spec: Any
) -> dict[str, Any]:
    """Return a log without its samples; further arguments are members of `eval`."""
    dataset: dict[str, Any] = {"name": "sums", "samples": 100}
    if ids is not None:
        dataset["sample_ids"] = list(ids)
    return {
        "version": 2,
        "status": status,
        "eval": {
            "eval_id": "E1",
            "run_id": "R1",
            "created": "2025-01-01T00:00:00+00:00",
            "task": "sums",
            "task_id": "T1",
            "task_version": 0,
            "dataset": dataset,
            "model": "made/up",
            "config": {} if epochs is None else {"epochs": epochs},
            "scorers": [{"name": "match"}],
            "packages": {"inspect_ai": "0.3.200"},
        }
        | spec,
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "stats": {"started_at": "", "completed_at": ""},
    }


def results(total: int, scored: int, *scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return stated results."""
    return {"total_samples": total, "completed_samples": scored, "scores": list(scores)}


def result(scorer: str, value: float, figure: str = "accuracy", **more: Any) -> dict[str, Any]:
    """Return the stated result of a scorer."""
    return {"name": scorer, "scorer": scorer, "metrics": {figure: {"name": figure, "value": value}}} | more


def write_json(path: Path, head: Mapping[str, Any], samples: Sequence[Any] = ()) -> Path:
    """Write a JSON log."""
    path.write_text(json.dumps({**head, "samples": list(samples)}))
    return path


def write_eval(
    path: Path,
    head: Mapping[str, Any] | None,
    samples: Sequence[Any] = (),
    compression: int = ZSTANDARD,
    more: Sequence[tuple[str, bytes | str]] = (),
) -> Path:
    """Write an archive as a run does: a journal, samples, summaries, and a header unless it crashed."""
    with zipfile.ZipFile(path, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sample that is recorded again has the name of its first record
        start = {name: (head or header())[name] for name in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", json.dumps(start))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        for name, content in more:
            archive.writestr(name, content)
        if head is not None:
            summaries = [{name: each.get(name) for name in ("id", "epoch", "scores")} for each in samples]
            archive.writestr("summaries.json", json.dumps(summaries))
            archive.writestr("header.json", json.dumps(head))
    return path


def one_sample(
    tmp_path: Path, *, head: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None, **members: Any
) -> Sample:
    """Return what is read of a log of one sample, whose id is 1."""
    log = write_json(tmp_path / "log.json", head or header([1]), [sample(1, **members)])
    [found] = only(Sample, read(reader, log, **(options or {})))
    return found


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return the metrics of records by name."""
    return {stated.metric.name: stated.metric for stated in only(MetricStated, records)}


def notes(records: Sequence[Record]) -> str:
    """Return the notes of records, one a line."""
    return "\n".join(f"{note.place}: {note.text}" for note in only(Note, records))
