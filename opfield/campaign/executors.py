"""Executors: where trials run (DESIGN §9). Each turns a task into a future of its evidence."""

from __future__ import annotations

import functools
import os
import queue
import socket
import threading
from concurrent.futures import CancelledError, Executor, Future, wait
from dataclasses import replace
from typing import Final, Protocol

from opfield.campaign.boundary import is_coroutine_runner, run_trial
from opfield.campaign.coroutines import CoroutineExecutor
from opfield.campaign.evidence import (
    Stopwatch,
    TrialContext,
    TrialEvidence,
    TrialTask,
    failure_evidence,
    timeout_failure,
)
from opfield.campaign.failures import safe_text
from opfield.campaign.jobs import Jobs
from opfield.campaign.processes import ProcessExecutor, pickled_context, unpickled_context
from opfield.core import Envelope, Failure
from opfield.errors import DeclarationError, unknown_name
from opfield.experiment import Case, runner_name

#: Names of the executors that `open_executor` knows.
KINDS: Final = ("auto", "coroutines", "inline", "processes", "threads")

# Trials in flight on an executor of someone else's, whose size is not known.
_FOREIGN_SLOTS: Final = 32


class TrialExecutor(Protocol):
    """Where trials run.

    A future settles with evidence whatever the runner does. It raises only `CancelledError`, after
    `close(now=True)`, and `DeclarationError`, where no trial at all can run.

    Attributes:
        slots: trials that may usefully be in flight.
    """

    slots: int

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Run a trial; past `timeout_s` seconds of running it ends as a retryable failure `timeout`."""
        ...

    def close(self, *, now: bool) -> None:
        """Wait for all trials and end; with `now`, cancel what waits and do not wait for what runs."""
        ...


def open_executor(kind: str | Executor, context: TrialContext, workers: int | None = None) -> TrialExecutor:
    """Return a new executor of the trials of `context`; the caller closes it.

    Args:
        kind: inline, threads, processes, coroutines; auto for coroutines where the runner is one and threads
            otherwise; or an executor with the standard interface, such as a Dask client's.
        context: what the trials have in common.
        workers: trials at a time; a number that suits the machine where None.

    Raises:
        DeclarationError: where the runner or the number of workers does not suit the kind.
        UnknownNameError: for another kind.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise DeclarationError(f"workers {workers!r} is not a whole number above 0; leave it out for the default")
    if isinstance(kind, Executor):
        return FutureExecutor(context, kind, workers or _FOREIGN_SLOTS)
    if kind not in KINDS:
        raise unknown_name("executor", str(kind), KINDS)
    is_coroutine = is_coroutine_runner(context.runner)
    if kind == "auto":
        kind = "coroutines" if is_coroutine else "threads"
    cores = os.cpu_count() or 1
    if kind == "processes":
        return ProcessExecutor(context, workers or cores)
    if kind == "threads":
        return ThreadExecutor(context, workers or min(8, cores + 4))
    if kind == "coroutines":
        if not is_coroutine:
            raise DeclarationError(
                f"runner {runner_name(context.runner)} is no coroutine function, so the executor "
                "coroutines cannot interleave its trials; define it with `async def`, or take threads"
            )
        return CoroutineExecutor(context, workers or 16)
    if workers not in (None, 1):
        raise DeclarationError(f"the executor inline runs one trial at a time, not {workers}; take threads")
    return InlineExecutor(context)


class InlineExecutor:
    """Runs each trial in the caller's thread while it is submitted; so it cannot enforce a timeout."""

    slots = 1

    def __init__(self, context: TrialContext) -> None:
        """Keep the context."""
        self._context = context

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:  # noqa: ARG002
        """Run the trial and return its evidence in a finished future; a person's Ctrl-C passes on."""
        future: Future[TrialEvidence] = Future()
        future.set_result(run_trial(self._context, task, "inline"))
        return future

    def close(self, *, now: bool) -> None:
        """Do nothing: no trial outlives its submission."""


class ThreadExecutor:
    """Runs trials in threads of its own.

    They are daemons, so that a stuck runner never keeps the interpreter from ending. No thread can be stopped
    from outside: one whose trial is late is left to itself, and another takes its slot.
    """

    def __init__(self, context: TrialContext, workers: int) -> None:
        """Start `workers` threads."""
        self.slots = workers
        self._context = context
        self._jobs = Jobs()
        for number in range(workers):
            self._start(f"thread-{number}")

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Queue the trial for the next free thread."""
        return self._jobs.submit(task, timeout_s)

    def close(self, *, now: bool) -> None:
        """End the threads, running ones once their trial ends."""
        self._jobs.close(now=now)

    def _start(self, name: str) -> None:
        threading.Thread(target=self._serve, args=(name,), name=f"opfield {name}", daemon=True).start()

    def _serve(self, name: str) -> None:
        while (job := self._jobs.take(name, lambda late: self._start(late.worker))) is not None:
            outcome: TrialEvidence | BaseException
            try:
                outcome = run_trial(self._context, job.task, name)
            except BaseException as error:
                outcome = error
            if not self._jobs.settle(job, outcome):
                return  # this trial was late, and another thread has the slot


class FutureExecutor:
    """Runs trials on an executor with the standard interface; it stays open, since it belongs to the caller.

    A timeout is kept where the trial runs. Where the executor pickles what it is given, the runner is
    unpickled once in each worker process, and each trial brings its own case and specification.
    """

    def __init__(self, context: TrialContext, executor: Executor, workers: int) -> None:
        """Use `executor`, with up to `workers` trials in flight."""
        self.slots = workers
        self._context = context
        self._shared = _Shared(replace(context, specs={}, cases={}))
        self._executor = executor
        self._unsettled: dict[Future[TrialEvidence], Future[TrialEvidence]] = {}
        self._lock = threading.Lock()

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Submit the trial; an executor that loses it gives a retryable failure `worker_died`."""
        coordinate, watch = task.coordinate, Stopwatch()
        spec, case = self._context.specs[coordinate.candidate_id], self._context.cases[coordinate.case_id]
        future: Future[TrialEvidence] = Future()
        future.set_running_or_notify_cancel()
        try:
            theirs = self._executor.submit(_run_elsewhere, self._shared, task, timeout_s, spec, case)
        except Exception as error:
            future.set_result(self._lost(task, watch, error))
            return future
        with self._lock:
            self._unsettled[future] = theirs
        theirs.add_done_callback(lambda _: self._settle(task, watch, future))
        return future

    def close(self, *, now: bool) -> None:
        """Wait for all trials; with `now`, cancel those that have not begun and forget the others."""
        with self._lock:
            unsettled = dict(self._unsettled)
            if now:
                self._unsettled.clear()
        for future, theirs in unsettled.items() if now else ():
            theirs.cancel()
            future.set_exception(CancelledError("the executor was closed"))
        wait(unsettled)

    def _settle(self, task: TrialTask, watch: Stopwatch, future: Future[TrialEvidence]) -> None:
        with self._lock:
            theirs = self._unsettled.pop(future, None)
        if theirs is None:
            return
        error = CancelledError("the executor cancelled the trial") if theirs.cancelled() else theirs.exception()
        if error is None:
            future.set_result(theirs.result())
        elif isinstance(error, CancelledError | DeclarationError):
            future.set_exception(error)
        else:
            future.set_result(self._lost(task, watch, error))

    def _lost(self, task: TrialTask, watch: Stopwatch, error: BaseException) -> TrialEvidence:
        message = f"the executor lost the trial: {type(error).__name__}: {safe_text(error)}"
        failure = Failure("worker_died", message, is_retryable=True)
        return failure_evidence(task, failure, watch, secrets=self._context.secrets)


class _Shared:
    """A context that is pickled once, and unpickled once in each process that it arrives in."""

    def __init__(self, context: TrialContext | None, payload: bytes = b"") -> None:
        self._context = context
        self._payload = payload

    def __reduce__(self) -> tuple[type[_Shared], tuple[None, bytes]]:
        if self._context is not None and not self._payload:
            self._payload = pickled_context(self._context)
        return _Shared, (None, self._payload)

    def context(self) -> TrialContext:
        return self._context or _unpickled(self._payload)


@functools.lru_cache(maxsize=2)
def _unpickled(payload: bytes) -> TrialContext:
    return unpickled_context(payload)


def _run_elsewhere(
    shared: _Shared, task: TrialTask, timeout_s: float | None, spec: Envelope, case: Case
) -> TrialEvidence:
    coordinate, worker = task.coordinate, f"{socket.gethostname()}-{os.getpid()}"
    context = replace(shared.context(), specs={coordinate.candidate_id: spec}, cases={coordinate.case_id: case})
    if timeout_s is None:
        return run_trial(context, task, worker)
    watch, answers = Stopwatch(), queue.SimpleQueue[TrialEvidence]()
    threading.Thread(target=lambda: answers.put(run_trial(context, task, worker)), daemon=True).start()
    try:
        return answers.get(timeout=timeout_s)
    except queue.Empty:
        return failure_evidence(task, timeout_failure(timeout_s), watch, worker)
