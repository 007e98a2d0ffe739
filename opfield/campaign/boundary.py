"""The trial boundary: whatever a runner does, its trial ends as valid evidence (§23.3).

Domain code runs between the making of a `TrialRequest` and the reading of its answer. What it raises, returns
or leaves behind is checked here, so that nothing behind the boundary has to doubt a `TrialEvidence`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from opfield.campaign.answers import Outcome, Shelf, read_answer
from opfield.campaign.evidence import (
    Lapse,
    Stopwatch,
    TrialContext,
    TrialEvidence,
    TrialTask,
)
from opfield.campaign.failures import (
    failure_as_recorded,
    judge_exception,
    printable,
    safe_text,
    secret_values,
    traceback_text,
)
from opfield.campaign.spending import Spending
from opfield.core import Failure, Status
from opfield.core.outcome import MESSAGE_LIMIT
from opfield.experiment import DomainFailure, InfrastructureFailure, TrialRequest, TrialResult

#: Schema of a traceback, or of a failure message too long for the ledger.
FAILURE_SCHEMA: Final = "opfield.failure/v1"

_ATOMS: Final = frozenset({str, int, float, bool, type(None)})


def is_coroutine_runner(runner: Any) -> bool:
    """Return whether `runner` is a coroutine function, or an instance whose `__call__` is one."""
    return inspect.iscoroutinefunction(runner) or inspect.iscoroutinefunction(type(runner).__call__)


def run_trial(context: TrialContext, task: TrialTask, worker: str = "") -> TrialEvidence:
    """Run one trial to its end and return what happened; an awaitable answer gets an event loop of its own.

    Everything that the runner raises becomes evidence, `SystemExit` included. Only a `KeyboardInterrupt` in
    the main thread, which a person sent, passes on.
    """
    trial = _Trial(context, task, worker)
    try:
        answer: Any = context.runner(trial.request())
        if hasattr(type(answer), "__await__"):
            answer = _run_to_end(answer)
    except BaseException as error:
        if _is_from_person(error):
            raise
        return trial.raised(error)
    return trial.answered(answer)


async def run_trial_async(context: TrialContext, task: TrialTask, worker: str = "") -> TrialEvidence:
    """Run one trial of a coroutine runner on the running loop, as `run_trial` does; cancelling passes on."""
    trial = _Trial(context, task, worker)
    try:
        answer: Any = context.runner(trial.request())
        if hasattr(type(answer), "__await__"):
            answer = await answer
    except BaseException as error:
        if isinstance(error, GeneratorExit) or _is_from_person(error) or _is_being_cancelled(error):
            raise
        return trial.raised(error)
    return trial.answered(answer)


class _Trial:
    """One trial between its request and its evidence."""

    __slots__ = ("_context", "_shelf", "_task", "_watch", "_worker")

    def __init__(self, context: TrialContext, task: TrialTask, worker: str) -> None:
        self._context, self._task, self._worker = context, task, worker
        self._shelf = Shelf(context.root)
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
        lapse = self._watch.read()
        status, failure = judge_exception(error)
        if isinstance(error, DomainFailure | InfrastructureFailure):
            # What the runner says that it spent is read with the same mistrust as an answer's.
            stated = {member: _member(error, member) for member in Spending._fields}
            return self._read(lapse, TrialResult(status=status, failure=failure, **stated), error)
        return self._failed(lapse, Outcome(status, artifact_id=self._shelf.last), failure, error)

    def answered(self, answer: Any) -> TrialEvidence:
        """Return the evidence of a runner that returned `answer`, whatever that is."""
        return self._read(self._watch.read(), answer)

    def _read(self, lapse: Lapse, answer: Any, raised: BaseException | None = None) -> TrialEvidence:
        """Return the evidence that an answer gives, or what stands for one where the runner raised `raised`."""
        try:
            declared = {metric.name: metric for metric in self._context.metrics}
            outcome = read_answer(answer, self._task.coordinate, declared, self._shelf)
        except BaseException as error:
            if _is_from_person(error):
                raise
            failure = Failure("invalid_answer", f"reading the answer raised {type(error).__name__}: {safe_text(error)}")
            outcome = Outcome(Status.INFRASTRUCTURE_FAILURE, artifact_id=self._shelf.last)
            return self._failed(lapse, outcome, failure, error)
        if outcome.failure is not None:
            return self._failed(lapse, outcome, outcome.failure, raised)
        return self._evidence(lapse, outcome)

    def _failed(
        self, lapse: Lapse, outcome: Outcome, failure: Failure, error: BaseException | None = None
    ) -> TrialEvidence:
        """Scrub the failure for the ledger; retain the traceback, or a message too long for the ledger."""
        secrets = secret_values(self._context.secrets)
        outcome.failure = failure_as_recorded(failure, secrets)
        text = printable(safe_text(failure.message) if error is None else traceback_text(error), secrets)
        if error is not None or len(text) > MESSAGE_LIMIT:
            # On a full disk the message alone has to say what happened.
            with contextlib.suppress(InfrastructureFailure):
                text_id = self._shelf.put(text, media_type="text/plain", schema=FAILURE_SCHEMA)
                outcome.artifact_id = outcome.artifact_id or text_id
        return self._evidence(lapse, outcome)

    def _evidence(self, lapse: Lapse, outcome: Outcome) -> TrialEvidence:
        return TrialEvidence(
            self._task.coordinate,
            self._task.attempt,
            outcome.status,
            outcome.measurements,
            outcome.failure,
            outcome.cost_usd,
            outcome.input_tokens,
            outcome.output_tokens,
            lapse.duration_s,
            lapse.started_at,
            lapse.finished_at,
            outcome.artifact_id,
            tuple(self._shelf.artifacts.values()),
            self._worker,
        )


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


def _member(holder: Any, name: str) -> Any:
    # A subclass of the runner's own may never have called the constructor, or may compute the member.
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


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
