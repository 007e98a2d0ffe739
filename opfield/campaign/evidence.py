"""Trials as values: what is to be run, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from opfield.campaign.failures import failure_as_recorded, secret_values
from opfield.core import Envelope, Failure, Status
from opfield.experiment import Case, Coordinate, Runner
from opfield.metric import Metric
from opfield.prob import Seed
from opfield.warehouse.artifacts import Artifact


@dataclass(frozen=True, slots=True)
class TrialContext:
    """What all trials of a campaign have in common; sent once to each worker.

    Attributes:
        campaign_id: campaign of the trials.
        runner: runs one trial.
        metrics: what is measured, kept in the order of names.
        specs: envelope of the specification by candidate id, the baseline's included.
        cases: case by id.
        secrets: names of environment variables whose values are scrubbed from failures, where the trial runs.
        root: warehouse folder, where large artifacts are written; None keeps any size in the evidence.
    """

    campaign_id: str
    runner: Runner
    metrics: Sequence[Metric]
    specs: Mapping[str, Envelope]
    cases: Mapping[str, Case]
    secrets: Sequence[str] = ()
    root: str | None = None

    def __post_init__(self) -> None:
        """Order the metrics once, since every trial lists them."""
        object.__setattr__(self, "metrics", tuple(sorted(self.metrics, key=lambda metric: metric.name)))


@dataclass(frozen=True, slots=True)
class TrialTask:
    """One attempt at a coordinate.

    Attributes:
        coordinate: where the result belongs.
        seed: shared by both arms of the pair.
        attempt: 1 for the first attempt.
    """

    coordinate: Coordinate
    seed: Seed
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of a trial: a finite value in the metric's range, or the reason why there is none."""

    metric: str
    value: float | None
    missing_reason: str | None = None


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """How one attempt ended: plain values that satisfy every rule of the ledger.

    Attributes:
        coordinate: where the result belongs.
        attempt: 1 for the first attempt.
        status: terminal status.
        measurements: ordered by metric. Where the runner claimed success, one for each declared metric;
            otherwise those that it reported.
        failure: what went wrong, scrubbed, on one line and bounded; None on success.
        cost_usd: money that this attempt spent, or, once accepted, all attempts at the coordinate; None where unknown.
        input_tokens: tokens sent to models, over the same attempts; None where unknown.
        output_tokens: tokens received from models, over the same attempts; None where unknown.
        duration_s: seconds that the runner took in this attempt alone, by a monotonic clock.
        started_at: UTC wall clock at the start, `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
        finished_at: `started_at` plus the duration, so that a clock set back cannot turn a trial around.
        artifact_id: native evidence, one of `artifacts`: what the result names, else its output, else the
            last artifact that the runner left, else the text of the failure.
        artifacts: everything retained during the trial.
        worker: executor slot that ran it.
    """

    coordinate: Coordinate
    attempt: int
    status: Status
    measurements: tuple[Measurement, ...]
    failure: Failure | None
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    duration_s: float
    started_at: str
    finished_at: str
    artifact_id: str | None
    artifacts: tuple[Artifact, ...]
    worker: str


class Lapse(NamedTuple):
    """When an attempt ran and how long it took."""

    duration_s: float
    started_at: str
    finished_at: str


class Stopwatch:
    """Time of one attempt: the wall clock says when it started, the monotonic one how long it takes."""

    __slots__ = ("_monotonic", "_wall")

    def __init__(self) -> None:
        """Start now."""
        # Without its zone, which is UTC: two times as fast to write.
        self._wall = datetime.now(UTC).replace(tzinfo=None)
        self._monotonic = time.monotonic()

    def read(self) -> Lapse:
        """Return the time from the start until now."""
        duration = time.monotonic() - self._monotonic
        return Lapse(duration, _timestamp(self._wall), _timestamp(self._wall + timedelta(seconds=duration)))


def failure_evidence(
    task: TrialTask,
    failure: Failure,
    watch: Stopwatch | None = None,
    worker: str = "",
    status: Status = Status.INFRASTRUCTURE_FAILURE,
    secrets: Sequence[str] = (),
) -> TrialEvidence:
    """Return the evidence of an attempt that ended without an answer of the runner.

    Args:
        task: the attempt.
        failure: what ended it.
        watch: started with the attempt; None for one that never started.
        worker: executor slot that had it.
        status: terminal status, a failure or cancelled.
        secrets: names of environment variables whose values are scrubbed from the failure.
    """
    lapse = (watch or Stopwatch()).read()
    return TrialEvidence(
        coordinate=task.coordinate,
        attempt=task.attempt,
        status=status,
        measurements=(),
        failure=failure_as_recorded(failure, secret_values(secrets)),
        cost_usd=None,
        input_tokens=None,
        output_tokens=None,
        duration_s=lapse.duration_s,
        started_at=lapse.started_at,
        finished_at=lapse.finished_at,
        artifact_id=None,
        artifacts=(),
        worker=worker,
    )


def timeout_failure(timeout_s: float) -> Failure:
    """Return the failure of an attempt that took too long."""
    return Failure("timeout", f"no answer within {timeout_s:g} s", is_retryable=True)


def _timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds") + "Z"
