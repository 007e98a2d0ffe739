"""Makes file stores in the shape that MLflow writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def experiment(store: Path, key: str, name: str, lifecycle_stage: str = "active") -> Path:
    """Make an experiment in a store, and return its folder."""
    folder = store / key
    folder.mkdir(parents=True)
    told = f"artifact_location: file:///x/{key}\nexperiment_id: '{key}'\nlifecycle_stage: {lifecycle_stage}\n"
    (folder / "meta.yaml").write_text(f"{told}name: {name}\n")
    return folder


def run(
    above: Path,
    key: str,
    *,
    name: str = "",
    status: str = "3",
    lifecycle_stage: str = "active",
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    metrics: Mapping[str, str] | None = None,
) -> Path:
    """Make a run in an experiment, and return its folder."""
    folder = above / key
    (folder / "artifacts").mkdir(parents=True)
    members = {
        "artifact_uri": f"file:///x/{key}/artifacts",
        "end_time": "1700000002500",
        "entry_point_name": "''",
        "experiment_id": f"'{above.name}'",
        "lifecycle_stage": lifecycle_stage,
        "run_id": key,
        "run_name": name or "''",
        "start_time": "1700000000000",
        "status": status,
        "tags": "[]",
    }
    (folder / "meta.yaml").write_text("".join(f"{member}: {value}\n" for member, value in members.items()))
    for part, texts in (("params", params), ("tags", tags), ("metrics", metrics)):
        for member, text in (texts or {}).items():
            path = folder / part / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    """Write an evaluation table, and return its path."""
    path.write_text(json.dumps({"columns": columns, "data": rows}))
    return path
