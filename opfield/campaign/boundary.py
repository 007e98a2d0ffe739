"""The trial boundary: whatever a runner does, its trial ends as valid evidence (§23.3).

Domain code runs between the making of a `TrialRequest` and the reading of its answer. What it raises, returns or leaves
behind is checked here, so that nothing behind the boundary has to doubt a `TrialEvidence`. An answer that breaks a rule
becomes an infrastructure failure that names the rule; the measurements in it that are valid are kept for reading.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
import numbers
import reprlib
import threading
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from opfield.campaign.failures import (
    failure_as_recorded,
    judge_exception,
    printable,
    safe_text,
    secret_values,
    traceback_text,
)
from opfield.core import Envelope, Failure, MissingReason, Status
from opfield.core.canonical import MAX_INTEGER
from opfield.core.outcome import MESSAGE_LIMIT
from opfield.errors import WarehouseError, unknown_name
from opfield.experiment import Case, Coordinate, InfrastructureFailure, Runner, TrialRequest, TrialResult
from opfield.metric import MAX_MAGNITUDE, Metric
from opfield.prob import Seed
from opfield.warehouse.artifacts import Artifact, retain

#: Schema of the native evidence that is written where the runner gave an output but left no artifact.
TRIAL_SCHEMA: Final = "opfield.trial/v1"
#: Schema of a traceback, or of a failure message too long for the ledger.
FAILURE_SCHEMA: Final = "opfield.failure/v1"

# Unknown metrics that one message explains; each costs a search for the nearest declared name.
_EXPLAINED: Final = 3
_ATOMS: Final = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class TrialContext:
    """What all trials of a campaign have in common; sent once to each worker.

    Attributes:
        campaign_id: campaign of the trials.
        runner: runs one trial.
        metrics: what is measured.
        specs: envelope of the specification by candidate id, the baseline's included.
        cases: case by id.
        secrets: names of environment variables whose values are scrubbed from failures; read where the trial runs.
        root: warehouse folder, where large artifacts are written; None keeps any size in the evidence.
        declared: metric by name, in the order of names.
    """

    campaign_id: str
    runner: Runner
    metrics: tuple[Metric, ...]
    specs: Mapping[str, Envelope]
    cases: Mapping[str, Case]
    secrets: tuple[str, ...] = ()
    root: str | None = None
    declared: Mapping[str, Metric] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the metrics once, since every trial reads them."""
        ordered = sorted(self.metrics, key=lambda metric: metric.name)
        object.__setattr__(self, "declared", {metric.name: metric for metric in ordered})


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
        measurements: ordered by metric. A trial that ended well has one for each declared metric; a failed one has those
            that its runner reported.
        failure: what went wrong, scrubbed, on one line and bounded; None on success.
        cost_usd: money spent; None where unknown.
        input_tokens: tokens sent to models; None where unknown.
        output_tokens: tokens received from models; None where unknown.
        duration_s: seconds that the runner took, by a monotonic clock.
        started_at: UTC wall clock at the start, `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
        finished_at: `started_at` plus the duration, so that a clock set back cannot turn a trial around.
        artifact_id: native evidence, one of `artifacts`: what the result names, else its output, else the last artifact
            that the runner left, else the text of the failure.
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


class Stopwatch:
    """Time of one attempt: wall clock at the start, monotonic clock for its length."""

    __slots__ = ("_monotonic", "_wall")

    def __init__(self) -> None:
        """Start now."""
        self._wall = datetime.now(UTC)
        self._monotonic = time.monotonic()

    def read(self) -> tuple[float, str, str]:
        """Return the seconds since the start, the start and the present as UTC timestamps."""
        duration = time.monotonic() - self._monotonic
        return duration, _timestamp(self._wall), _timestamp(self._wall + timedelta(seconds=duration))


def is_coroutine_runner(runner: Any) -> bool:
    """Return whether calling `runner` gives a coroutine: an `async def`, or an instance whose `__call__` is one."""
    return inspect.iscoroutinefunction(runner) or inspect.iscoroutinefunction(type(runner).__call__)


def run_trial(context: TrialContext, task: TrialTask, worker: str = "") -> TrialEvidence:
    """Run one trial to its end and return what happened; a coroutine runner gets an event loop of its own.

    Everything that the runner raises becomes evidence, `SystemExit` included. Only a `KeyboardInterrupt` in the main
    thread, which a person sent, passes on.
    """
    trial = _Trial(context, task, worker)
    try:
        answer = context.runner(trial.request())
        if hasattr(type(answer), "__await__"):
            answer = _run_to_end(answer)
    except BaseException as error:
        if _is_from_person(error):
            raise
        return trial.raised(error)
    return trial.answered(answer)


async def run_trial_async(context: TrialContext, task: TrialTask, worker: str = "") -> TrialEvidence:
    """Run one trial of a coroutine runner on the running loop, as `run_trial` does; its cancellation passes on."""
    trial = _Trial(context, task, worker)
    try:
        answer = context.runner(trial.request())
        if hasattr(type(answer), "__await__"):
            answer = await answer
    except BaseException as error:
        if isinstance(error, GeneratorExit) or _is_from_person(error) or _is_being_cancelled(error):
            raise
        return trial.raised(error)
    return trial.answered(answer)


def failure_evidence(task: TrialTask, failure: Failure, watch: Stopwatch, worker: str = "") -> TrialEvidence:
    """Return the evidence of an attempt that an executor ended without an answer of the runner."""
    return _evidence(task, worker, watch.read(), _Outcome(Status.INFRASTRUCTURE_FAILURE, failure_as_recorded(failure)))


def timeout_failure(timeout_s: float) -> Failure:
    """Return the failure of an attempt that took too long."""
    return Failure("timeout", f"no answer within {timeout_s:g} s", is_retryable=True)


@dataclass(slots=True)
class _Outcome:
    """What an attempt ended as, without its time and place."""

    status: Status
    failure: Failure | None = None
    measurements: tuple[Measurement, ...] = ()
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    artifact_id: str | None = None


def _evidence(
    task: TrialTask,
    worker: str,
    time: tuple[float, str, str],
    outcome: _Outcome,
    artifacts: tuple[Artifact, ...] = (),
) -> TrialEvidence:
    duration, started_at, finished_at = time
    return TrialEvidence(
        task.coordinate,
        task.attempt,
        outcome.status,
        outcome.measurements,
        outcome.failure,
        outcome.cost_usd,
        outcome.input_tokens,
        outcome.output_tokens,
        duration,
        started_at,
        finished_at,
        outcome.artifact_id,
        artifacts,
        worker,
    )


class _Shelf:
    """The retainer of one trial: keeps what it was given, once for each identity."""

    __slots__ = ("_root", "artifacts", "last")

    def __init__(self, root: str | None) -> None:
        self._root = root
        self.artifacts: dict[str, Artifact] = {}
        self.last: str | None = None

    def put(self, content: Any, *, media_type: str = "application/json", schema: str | None = None) -> str:
        """Retain content and return its artifact id.

        Raises:
            InfrastructureFailure: `unserialisable_output` for content without a canonical form, `storage` where it
                cannot be written now.
        """
        root = None if self._root is None else Path(self._root)
        try:
            kind, meaning = str.__str__(media_type), None if schema is None else str.__str__(schema)
            artifact = retain(content, media_type=kind, schema=meaning, root=root)
        except WarehouseError as error:
            raise InfrastructureFailure("storage", str(error), is_retryable=True) from error
        except Exception as error:
            message = f"an output or artifact cannot be kept: {safe_text(error)}"
            raise InfrastructureFailure("unserialisable_output", message) from error
        self.artifacts[artifact.artifact_id] = artifact
        self.last = artifact.artifact_id
        return artifact.artifact_id


class _Trial:
    """One trial between the request and its evidence."""

    __slots__ = ("_context", "_refusals", "_shelf", "_task", "_watch", "_worker")

    def __init__(self, context: TrialContext, task: TrialTask, worker: str) -> None:
        self._context, self._task, self._worker = context, task, worker
        self._shelf = _Shelf(context.root)
        self._refusals: list[Failure] = []
        self._watch = Stopwatch()

    def request(self) -> TrialRequest:
        """Return what the runner is given."""
        coordinate = self._task.coordinate
        spec = self._context.specs[coordinate.candidate_id]
        case = self._context.cases[coordinate.case_id]
        return TrialRequest(
            coordinate=coordinate,
            # Copies, so that a runner that changes what it was given changes no other trial.
            spec=_copied(spec.payload),
            case=_copied(case.input),
            seed=self._task.seed,
            campaign_id=self._context.campaign_id,
            spec_digest=spec.digest,
            artifacts=self._shelf,
            groups=dict(case.groups),
            attempt=self._task.attempt,
        )

    def raised(self, error: BaseException) -> TrialEvidence:
        """Return the evidence of a runner that raised `error`."""
        time = self._watch.read()
        status, failure = judge_exception(error)
        return self._ended(time, self._failed(_Outcome(status, failure, artifact_id=self._shelf.last), error))

    def answered(self, answer: Any) -> TrialEvidence:
        """Return the evidence of a runner that returned `answer`, whatever that is."""
        time = self._watch.read()
        try:
            outcome, error = self._outcome(answer), None
        except BaseException as raised:
            if _is_from_person(raised):
                raise
            # Reading the answer ran code of the runner's own, such as a property or an iterator.
            failure = Failure("invalid_answer", f"reading the answer raised {type(raised).__name__}: {safe_text(raised)}")
            outcome, error = _Outcome(Status.INFRASTRUCTURE_FAILURE, failure, artifact_id=self._shelf.last), raised
        return self._ended(time, outcome if outcome.failure is None else self._failed(outcome, error))

    def _ended(self, time: tuple[float, str, str], outcome: _Outcome) -> TrialEvidence:
        return _evidence(self._task, self._worker, time, outcome, tuple(self._shelf.artifacts.values()))

    def _failed(self, outcome: _Outcome, error: BaseException | None) -> _Outcome:
        """Scrub the failure for the ledger, and retain the whole text that it stands for."""
        failure = outcome.failure or Failure("unspecified", "")
        secrets = secret_values(self._context.secrets)
        outcome.failure = failure_as_recorded(failure, secrets)
        text = printable(safe_text(failure.message) if error is None else traceback_text(error), secrets)
        if error is not None or len(text) > MESSAGE_LIMIT:
            try:
                text_id = self._shelf.put(text, media_type="text/plain", schema=FAILURE_SCHEMA)
            except InfrastructureFailure:
                text_id = None  # a full disk: the message itself still says what happened
            outcome.artifact_id = outcome.artifact_id or text_id
        return outcome

    def _outcome(self, answer: Any) -> _Outcome:
        if isinstance(answer, TrialResult):
            result = answer
        elif isinstance(answer, Mapping):
            result = TrialResult(metrics=answer)
        else:
            self._refuse(
                "invalid_answer",
                f"the runner answered {_shown(answer)}, a {type(answer).__name__}; "
                "return a mapping of metric to value, or a TrialResult",
            )
            result = TrialResult(status=Status.INFRASTRUCTURE_FAILURE)
        if result.coordinate is not None and result.coordinate != self._task.coordinate:
            self._refuse("wrong_coordinate", f"the runner ran {result.coordinate}, asked was {self._task.coordinate}")
        status = self._status(result.status)
        failure = self._stated_failure(status, result.failure)
        outcome = _Outcome(
            status,
            failure,
            self._measurements(result, claims_success=status is Status.SUCCESS),
            self._amount("cost_usd", result.cost_usd),
            self._tokens("input_tokens", result.input_tokens),
            self._tokens("output_tokens", result.output_tokens),
            self._native_evidence(result),
        )
        return self._refused(outcome) if self._refusals else outcome

    def _refused(self, outcome: _Outcome) -> _Outcome:
        """Turn an answer that breaks rules into the infrastructure failure that names them all."""
        words = [refusal.message for refusal in self._refusals]
        if outcome.failure is not None and outcome.status is not Status.SUCCESS:
            words.append(f"the runner stated {safe_text(outcome.failure.code)}: {safe_text(outcome.failure.message)}")
        is_retryable = all(refusal.is_retryable for refusal in self._refusals)
        outcome.status = Status.INFRASTRUCTURE_FAILURE
        outcome.failure = Failure(self._refusals[0].code, "; ".join(words), is_retryable)
        return outcome

    def _refuse(self, code: str, message: str, *, is_retryable: bool = False) -> None:
        self._refusals.append(Failure(code, message, is_retryable))

    def _status(self, stated: Any) -> Status:
        if type(stated) is Status:
            return stated
        if isinstance(stated, str) and stated in Status._value2member_map_:
            return Status(stated)
        self._refuse("invalid_answer", f"status {_shown(stated)} is none of {', '.join(Status)}")
        return Status.INFRASTRUCTURE_FAILURE

    def _stated_failure(self, status: Status, stated: Any) -> Failure | None:
        if stated is not None and not isinstance(stated, Failure):
            self._refuse("invalid_answer", f"the failure is {_shown(stated)}, a {type(stated).__name__}, not a Failure")
            return None
        if status is not Status.SUCCESS:
            return stated or Failure("unspecified", f"the runner stated {status} and no reason")
        if stated is not None:
            said = f"{safe_text(stated.code)}: {safe_text(stated.message)}"
            self._refuse("invalid_answer", f"the status is success, but there is a failure ({said})")
        return None

    def _measurements(self, result: TrialResult, *, claims_success: bool) -> tuple[Measurement, ...]:
        answered = self._members("metrics", result.metrics)
        missing = self._members("missing", result.missing)
        reasons = {name: self._reason(name, reason) for name, reason in missing.items()}
        found = []
        for name, metric in self._context.declared.items():
            given = answered.get(name)
            if given is not None:
                if name in reasons:
                    self._refuse("invalid_answer", f"metric {name!r} has both a value and a missing reason")
                found.append(self._measurement(metric, given))
            elif name in reasons:
                found.append(Measurement(name, None, reasons[name]))
            elif claims_success or name in answered:
                found.append(Measurement(name, None, MissingReason.NOT_EMITTED.value))
        return tuple(found)

    def _members(self, member: str, given: Any) -> dict[str, Any]:
        """Return the members of `metrics` or `missing`, refusing names that the campaign does not declare."""
        if not isinstance(given, Mapping):
            self._refuse("invalid_answer", f"{member} is {_shown(given)}, a {type(given).__name__}, not a mapping")
            return {}
        # Copied once: the runner may still hold it, and a mapping of its own making may answer otherwise next time.
        members = dict(given)
        declared = self._context.declared
        if members.keys() <= declared.keys():
            return members
        unknown = [name for name in members if name not in declared]
        for name in unknown[:_EXPLAINED]:
            value = _shown(members[name])
            if isinstance(name, str):
                self._refuse("unknown_metric", f"{unknown_name('metric', name[:200], declared)}; its value is {value}")
            else:
                self._refuse("unknown_metric", f"{member} has the name {_shown(name)}, not text; its value is {value}")
        if len(unknown) > _EXPLAINED:
            self._refuse("unknown_metric", f"and {len(unknown) - _EXPLAINED} unknown metrics more")
        return members

    def _reason(self, name: Any, given: Any) -> str:
        if isinstance(given, str) and given in MissingReason._value2member_map_:
            return MissingReason(given).value
        known = ", ".join(MissingReason)
        self._refuse("invalid_answer", f"metric {_shown(name)} is missing for {_shown(given)}, which is none of {known}")
        return MissingReason.NOT_EMITTED.value

    def _measurement(self, metric: Metric, given: Any) -> Measurement:
        """Return the value of a metric, or its absence where the value is refused."""
        value = given if type(given) is float else self._number(metric, given)
        if value is None:
            return Measurement(metric.name, None, MissingReason.NOT_EMITTED.value)
        refusal = metric.refusal(value)
        if refusal is None:
            return Measurement(metric.name, value)
        is_finite = math.isfinite(value)
        self._refuse("out_of_range" if is_finite else "not_finite", refusal)
        reason = MissingReason.NOT_EMITTED if is_finite else MissingReason.NOT_FINITE
        return Measurement(metric.name, None, reason.value)

    def _number(self, metric: Metric, given: Any) -> float | None:
        if not isinstance(given, numbers.Real) and hasattr(given, "item"):
            given = given.item()  # a scalar of an array library
        if isinstance(given, bool) and metric.kind != "binary":
            self._refuse("not_a_number", f"metric {metric.name!r} is {given}, but only a binary metric takes a truth value")
        elif not isinstance(given, numbers.Real):
            kind = type(given).__name__
            self._refuse("not_a_number", f"metric {metric.name!r} is {_shown(given)}, a {kind}, not a number")
        else:
            try:
                return float(given)
            except OverflowError:
                limit = f"the largest magnitude {MAX_MAGNITUDE:g}"
                self._refuse("out_of_range", f"metric {metric.name!r} is {_shown(given)}, beyond {limit}")
        return None

    def _amount(self, member: str, given: Any) -> float | None:
        if given is None:
            return None
        if isinstance(given, numbers.Real) and not isinstance(given, bool) and 0 <= given <= MAX_MAGNITUDE:
            return float(given)
        self._refuse("invalid_answer", f"{member} is {_shown(given)}, not a finite number from 0; None is unknown")
        return None

    def _tokens(self, member: str, given: Any) -> int | None:
        if given is None:
            return None
        if isinstance(given, numbers.Integral) and not isinstance(given, bool) and 0 <= given <= MAX_INTEGER:
            return int(given)
        self._refuse("invalid_answer", f"{member} is {_shown(given)}, not a whole number from 0; None is unknown")
        return None

    def _native_evidence(self, result: TrialResult) -> str | None:
        left, named = self._shelf.last, result.artifact_id
        if named is not None:
            artifact = self._shelf.artifacts.get(named) if isinstance(named, str) else None
            if artifact is not None:
                return artifact.artifact_id
            self._refuse(
                "invalid_answer",
                f"artifact {_shown(named)} was not retained in this trial; give what trial.artifacts.put returned",
            )
        if result.output is not None or result.observations:
            try:
                content = {"output": result.output, "observations": result.observations}
                return self._shelf.put(content, schema=TRIAL_SCHEMA)
            except InfrastructureFailure as failure:
                self._refuse(failure.code, failure.message, is_retryable=failure.is_retryable)
        return left


def _copied(value: Any) -> Any:
    """Return a JSON value that shares no container with `value`."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: item if type(item) in _ATOMS else _copied(item) for key, item in value.items()}
    if kind is list or isinstance(value, list):
        return [item if type(item) in _ATOMS else _copied(item) for item in value]
    return tuple(_copied(item) for item in value) if isinstance(value, tuple) else value


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def _run_to_end(answer: Awaitable[Any]) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(answer))
    # The caller's thread turns a loop already, as in a notebook: this one needs a thread of its own.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _awaited(answer)).result()


def _is_from_person(error: BaseException) -> bool:
    # Signals reach the main thread only: elsewhere the runner itself raised it.
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _is_being_cancelled(error: BaseException) -> bool:
    # A runner can also raise CancelledError itself; then nobody asked its task to stop.
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling() > 0)


def _shown(value: Any) -> str:
    """Return a short text of any value; never raises."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def _timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")[:26] + "Z"
