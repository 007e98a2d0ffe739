"""Executors: where trials run (DESIGN §9). Each turns a task into a future of its evidence."""

from __future__ import annotations

import asyncio
import functools
import os
import queue
import socket
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Protocol

from opfield.campaign.boundary import (
    Stopwatch,
    TrialContext,
    TrialEvidence,
    TrialTask,
    failure_evidence,
    is_coroutine_runner,
    run_trial,
    run_trial_async,
    timeout_failure,
)
from opfield.campaign.failures import safe_text
from opfield.campaign.jobs import Job, Jobs
from opfield.campaign.processes import ProcessExecutor, pickled_context, unpickled_context
from opfield.core import Envelope, Failure
from opfield.errors import DeclarationError, unknown_name
from opfield.experiment import Case, runner_identity

#: Names of the executors that `open_executor` knows.
KINDS: Final = ("auto", "coroutines", "inline", "processes", "threads")

# Trials in flight on an executor of someone else's, whose size is not known.
_FOREIGN_SLOTS: Final = 32
# How long closing waits for cancelled coroutines, and a late coroutine's loop may take to answer.
_GRACE_S: Final = 0.5


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
                f"runner {runner_identity(context.runner).id} is no coroutine function, so the executor "
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


class CoroutineExecutor:
    """Runs the trials of a coroutine runner on an event loop in its own thread, a bounded number in flight.

    A late coroutine is cancelled and its slot is free at once, whether or not it obeys. Where the loop itself
    no longer turns, since a coroutine blocks it, it is left to itself and a new one takes its place.
    """

    def __init__(self, context: TrialContext, workers: int) -> None:
        """Start the loop; `workers` is the bound."""
        self.slots = workers
        self._context = context
        self._jobs = Jobs()
        self._turning = _TurningLoop()
        self._blocked: list[_TurningLoop] = []

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Queue the trial for the next free place on the loop."""
        future = self._jobs.submit(task, timeout_s)
        self._turning.call(self._fill, self._turning)
        return future

    def close(self, *, now: bool) -> None:
        """Cancel what is left on the loop and end it; a coroutine that does not obey is left to itself."""
        self._jobs.close(now=now)
        for turning in (*self._blocked, self._turning):
            turning.end(_GRACE_S)
        self._turning.wait(2 * _GRACE_S)

    def _fill(self, turning: _TurningLoop) -> None:
        """Start trials on the loop, in its own thread, until all slots are taken."""
        while turning is self._turning and len(turning.tasks) < self.slots:
            job = self._jobs.take_now("coroutine", functools.partial(self._give_up, turning))
            if job is None:
                return
            turning.tasks[job] = turning.loop.create_task(self._run(turning, job))

    async def _run(self, turning: _TurningLoop, job: Job) -> None:
        try:
            outcome: TrialEvidence | BaseException = await run_trial_async(self._context, job.task, job.worker)
        except asyncio.CancelledError:
            # Either the job was given up and is settled already, or the runner cancelled its own task.
            failure = Failure("cancelled_error", "the runner cancelled its own task")
            outcome = failure_evidence(job.task, failure, job.watch, job.worker)
        except Exception as error:
            outcome = error
        self._jobs.settle(job, outcome)
        turning.tasks.pop(job, None)
        self._fill(turning)

    def _give_up(self, turning: _TurningLoop, late: Job) -> None:
        turning.call(self._drop, turning, late)
        if turning is self._turning and not turning.answers(_GRACE_S):
            self._blocked.append(turning)
            self._turning = _TurningLoop()
            self._turning.call(self._fill, self._turning)

    def _drop(self, turning: _TurningLoop, late: Job) -> None:
        task = turning.tasks.pop(late, None)
        if task is not None:
            turning.dropped.add(task)  # the loop itself does not keep a task alive
            task.add_done_callback(turning.dropped.discard)
            task.cancel()
        self._fill(turning)


class _TurningLoop:
    """An event loop and the thread that turns it.

    Attributes:
        loop: the event loop.
        tasks: task by job in flight; touched by the loop's thread only.
        dropped: tasks given up that have not ended yet.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.tasks: dict[Job, asyncio.Task[None]] = {}
        self.dropped: set[asyncio.Task[None]] = set()
        self._is_ending = False
        self._thread = threading.Thread(target=self._turn, name="opfield coroutines", daemon=True)
        self._thread.start()

    def call(self, act: Callable[..., object], *args: Any) -> None:
        """Have the loop's thread call `act(*args)`; nothing where the loop has ended."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(act, *args)

    def answers(self, within_s: float) -> bool:
        """Return whether the loop turns."""
        answered = threading.Event()
        self.call(answered.set)
        return answered.wait(within_s)

    def end(self, grace_s: float) -> None:
        """Have all tasks cancelled, and the loop ended once they obey or `grace_s` is over."""
        self.call(lambda: self.loop.create_task(self._cancel_all(grace_s)))

    def wait(self, within_s: float) -> None:
        """Wait for the thread to end."""
        self._thread.join(within_s)

    async def _cancel_all(self, grace_s: float) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=grace_s)
        self._is_ending = True
        # What does not obey is destroyed with the loop; nobody needs to be told.
        self.loop.set_exception_handler(lambda _loop, _told: None)
        self.loop.stop()

    def _turn(self) -> None:
        while not self._is_ending:
            # A task that the runner started beside its trial can raise SystemExit through the loop.
            with suppress(BaseException):
                self.loop.run_forever()
        self.loop.close()


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
            future.set_result(_lost(task, watch, error))
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
            future.set_result(_lost(task, watch, error))


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


def _lost(task: TrialTask, watch: Stopwatch, error: BaseException) -> TrialEvidence:
    message = f"the executor lost the trial: {type(error).__name__}: {safe_text(error)}"
    return failure_evidence(task, Failure("worker_died", message, is_retryable=True), watch, "")
