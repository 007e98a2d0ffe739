"""Evaluation tables of MLflow: columns and rows, a row for each input, scores by MLflow's names for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.core import MissingReason, canonical_json
from opfield.core.number import is_number
from opfield.errors import DeclarationError, IdentityError
from opfield.ingest.files import Advance
from opfield.ingest.json_stream import json_items, json_shell
from opfield.ingest.readers.mlflow_run import Run
from opfield.ingest.records import CaseRef, IngestError, Key, MetricStated, Record, Refused, Sample, Source, Stated
from opfield.metric import MAX_MAGNITUDE, Metric

#: Name under which MLflow keeps the rows of an evaluation.
TABLE: Final = "eval_results_table.json"
_SCORE: Final = "/score"
_MEAN: Final = "/mean"
_WHY: Final = "/justification"
#: Columns that MLflow measures itself for each row, beside scores.
_MEASURED: Final = ("latency", "token_count")
_INPUTS: Final = "inputs"
_LONGEST_KEY: Final = 200


@dataclass(frozen=True, slots=True)
class Mapped:
    """How rows are read.

    Attributes:
        case_column: column with the case's key; None for the inputs themselves.
        asked: metrics that the user named: columns that are metrics as well, whatever they are called.
    """

    case_column: str | None = None
    asked: tuple[str, ...] = ()


def table_of(run: Run, name: str, source: Source) -> Source | Refused | None:
    """Return the table among a run's artifacts; None where there is none, refused where it lies elsewhere.

    Args:
        run: the run.
        name: path of the table below the run's artifacts.
        source: what the user named, for the table's name.
    """
    if run.artifacts is None or run.root is None:
        return None
    path = run.artifacts / name
    place = f"{run.place.removesuffix('/meta.yaml')}/artifacts/{name}"
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return Refused(source.name, f"table {name!r} leads out of the artifacts", "name one below them")
    if not path.exists():
        return None
    if not path.resolve().is_relative_to(run.root):
        return Refused(place, "it is a link that leads elsewhere, and is not followed", "put the file itself there")
    return Source(path, place)


def read_table(
    source: Source, system: str, mapped: Mapped, aggregates: Mapping[str, float], advance: Advance
) -> Iterator[Record]:
    """Yield a row's cell for each row, and the means that the run states of the scores.

    Args:
        source: the table.
        system: key of the system.
        mapped: how rows are read.
        aggregates: metric of the run to its value.
        advance: told of the bytes read.

    Raises:
        IngestError: where the file is no table.
    """
    shell = json_shell(source, ("data",))
    columns = shell.get("columns") if isinstance(shell, dict) else None
    if not isinstance(columns, list) or not isinstance(shell.get("data"), list):
        raise IngestError(f"{source.name} is no evaluation table: it lacks columns or data; leave it out")
    if not all(isinstance(column, str) for column in columns) or len(set(columns)) < len(columns):
        raise IngestError(f"{source.name}: columns are not names, or one stands twice; write the table again")
    metrics = [column for column in columns if _is_metric(column, mapped.asked)]
    listed = ", ".join(columns) or "none"
    wanted = mapped.case_column or _INPUTS
    if wanted not in columns:
        yield Refused(
            source.name, f"no column {wanted!r} says which case a row is of", f"name one of {listed} with --case-column"
        )
        return
    if not metrics:
        yield Refused(source.name, "no column is a score", f"name one of {listed} with --metric")
        return
    for metric in metrics:
        try:
            yield MetricStated(Metric(metric, description="column of an evaluation table"), f"{source.name}: columns")
        except DeclarationError as error:
            yield Refused(f"{source.name}: columns", str(error), "call the column otherwise")
            return
        mean = aggregates.get(f"{metric.removesuffix(_SCORE)}{_MEAN}")
        if mean is not None:
            name = f"{metric.removesuffix(_SCORE)}{_MEAN}"
            yield Stated(system, "mean", mean, f"{source.name}: {name}", metric=metric, name=name)
    rows = 0
    for number, row in enumerate(json_items(source, "data.item", advance)):
        rows += 1
        place = f"{source.name}: data[{number}]"
        if not isinstance(row, list) or len(row) != len(columns):
            held = f"{len(row)} values" if isinstance(row, list) else type(row).__name__
            yield Refused(place, f"the row has {held} for {len(columns)} columns", "write the table again")
            continue
        yield _sample(system, place, dict(zip(columns, row, strict=True)), metrics, mapped)
    if not rows:
        yield Refused(source.name, "the table has no rows", "leave it out")


def _sample(
    system: str, place: str, row: Mapping[str, Any], metrics: Sequence[str], mapped: Mapped
) -> Sample | Refused:
    asked = row.get(_INPUTS)
    if mapped.case_column is None:
        key = _key_of(asked)
        if key is None:
            return Refused(place, "its inputs are empty", "name another column with --case-column")
    else:
        key = row[mapped.case_column]
        if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
            reason = f"{mapped.case_column} is {str(key)[:60]!r}, neither text nor a whole number"
            return Refused(place, reason, "name another column with --case-column")
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    for metric in metrics:
        raw = row[metric]
        if raw is None:
            why = row.get(f"{metric.removesuffix(_SCORE)}{_WHY}")
            missing[metric] = MissingReason.JUDGE_FAILED if why else MissingReason.NOT_EMITTED
        elif isinstance(raw, bool):
            values[metric] = float(raw)
        elif not is_number(raw):
            return Refused(place, f"{metric} is {str(raw)[:60]!r}, which is no number", "mend it, or name others")
        elif abs(raw) <= MAX_MAGNITUDE:
            values[metric] = float(raw)
        else:
            missing[metric] = MissingReason.NOT_FINITE
    return Sample(
        system,
        CaseRef(key),
        place,
        input=asked,
        values=values,
        missing=missing,
        content=dict(row),
    )


def _is_metric(column: str, asked: Sequence[str]) -> bool:
    return column in asked or column.endswith(_SCORE) or column in _MEASURED


def _key_of(asked: Any) -> Key | None:
    """Return the key of a row that has none of its own: what was asked, or its digest where that is no short text."""
    if asked is None or asked == "":
        return None
    if isinstance(asked, str) and len(asked.encode("utf-8", "replace")) <= _LONGEST_KEY and asked.isprintable():
        return asked
    if isinstance(asked, int) and not isinstance(asked, bool):
        return asked
    try:
        content = canonical_json(asked)
    except IdentityError:
        content = repr(asked).encode("utf-8", "replace")
    return f"inputs {hashlib.sha256(content).hexdigest()[:16]}"
