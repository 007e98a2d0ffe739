"""A run of MLflow as a value, whichever way it was read, and the records that it becomes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status
from opfield.errors import DeclarationError
from opfield.ingest.records import CaseRef, MetricStated, Refused, Sample, System
from opfield.metric import MAX_MAGNITUDE, Metric

#: Status of a run to what it is here, and its failure.
OUTCOMES: Final[Mapping[str, tuple[Status, Failure | None]]] = {
    "FINISHED": (Status.SUCCESS, None),
    "FAILED": (Status.INFRASTRUCTURE_FAILURE, Failure("failed", "the run failed")),
    "KILLED": (Status.CANCELLED, Failure("killed", "the run was killed")),
    "RUNNING": (Status.CANCELLED, Failure("not_finished", "the run was still running")),
    "SCHEDULED": (Status.CANCELLED, Failure("not_finished", "the run had not started")),
}
#: Statuses by the number that file stores write; the first is none.
NUMBERED: Final = ("", "RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")
#: Tags that say what was run; those of the user, of times and of ids say who ran it and when.
_OF_SYSTEM: Final = ("mlflow.source.", "mlflow.project.entryPoint")
_PARENT: Final = "mlflow.parentRunId"
_LATEST_MS: Final = 253_402_300_800_000


@dataclass(frozen=True, slots=True)
class Logged:
    """Last value of one metric of a run.

    Attributes:
        value: the value, NaN and infinities included; None where the store holds the metric without any.
        place: where it stands.
        history: every point as (timestamp, value, step), as far as it is kept.
        points: number of points that the store holds; None where it was not asked.
    """

    value: float | None
    place: str
    history: tuple[tuple[int, float, int], ...] = ()
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes:
        id: its identity, unique in every store.
        name: its name for people; its id where it has none.
        experiment: name of its experiment.
        status: one of `OUTCOMES`, or something else that stands in its place.
        place: where it stands.
        params: parameter to value, as text.
        tags: tag to value.
        metrics: metric to its last value.
        start_ms: start in milliseconds since 1970; None where unknown.
        end_ms: end, likewise.
        artifacts: folder of its artifacts; None where they are not at hand.
        root: folder that nothing of it may lie outside of.
    """

    id: str
    name: str
    experiment: str
    status: str
    place: str
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Logged] = field(default_factory=dict)
    start_ms: int | None = None
    end_ms: int | None = None
    artifacts: Path | None = None
    root: Path | None = None


def system_of(run: Run) -> System:
    """Return the system that a run is of: its parameters and the source that it ran."""
    source = {name: value for name, value in run.tags.items() if name.startswith(_OF_SYSTEM) and value}
    says = {"tool": "mlflow", "params": dict(run.params), "source": source}
    aliases = () if run.name == run.id else (run.id,)
    return System(run.id, run.name, run.place, says, aliases, run=run.id)


def metrics_of(run: Run) -> Iterator[MetricStated | Refused]:
    """Yield the metrics of a run; MLflow says of none what better is."""
    for name, logged in run.metrics.items():
        try:
            yield MetricStated(Metric(name), logged.place)
        except DeclarationError as error:
            yield Refused(logged.place, str(error), "log it under another name")


def sample_of(run: Run) -> Sample:
    """Return the one cell of a run without a table: the last value of each of its metrics, on its experiment."""
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    for name, logged in run.metrics.items():
        if logged.value is None:
            missing[name] = MissingReason.NOT_EMITTED
        elif abs(logged.value) <= MAX_MAGNITUDE:
            values[name] = logged.value
        else:  # NaN, infinities, and the largest number of the type, which databases keep in their place
            missing[name] = MissingReason.NOT_FINITE
    status, failure = OUTCOMES[run.status]
    return Sample(
        run.id,
        CaseRef(run.experiment),
        run.place,
        values=values,
        missing=missing,
        status=status,
        failure=failure,
        duration_s=_duration(run),
        started_at=_instant(run.start_ms),
        finished_at=_instant(run.end_ms),
        content=native(run),
    )


def native(run: Run) -> Mapping[str, Any]:
    """Return what a store holds of a run, as JSON to keep."""
    return {
        "run_id": run.id,
        "run_name": run.name,
        "experiment": run.experiment,
        "status": run.status,
        "parent_run_id": run.tags.get(_PARENT),
        "tags": dict(run.tags),
        "metrics": {
            name: {
                "last": _told(each.value),
                "points": each.points,
                "history": [list(map(_told, p)) for p in each.history],
            }
            for name, each in run.metrics.items()
        },
    }


def _told(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _duration(run: Run) -> float | None:
    if run.start_ms is None or run.end_ms is None or run.end_ms < run.start_ms:
        return None
    return (run.end_ms - run.start_ms) / 1000


def _instant(milliseconds: int | None) -> str | None:
    if milliseconds is None or not 0 < milliseconds < _LATEST_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
