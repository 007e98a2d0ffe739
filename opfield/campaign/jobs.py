"""Jobs of an executor: submitted, waiting, running, settled exactly once."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass, field

from opfield.campaign.evidence import Stopwatch, TrialEvidence, TrialTask, failure_evidence, timeout_failure


@dataclass(eq=False, slots=True)
class Job:
    """One task on its way through an executor.

    Attributes:
        task: what to run.
        timeout_s: longest time it may run, in seconds; None for no limit.
        future: settled with the evidence.
        worker: slot that runs it; empty while it waits.
        watch: started when it began to run.
        deadline: monotonic time at which it is given up; infinity where nobody watches it.
        give_up: told, once, that it was given up.
    """

    task: TrialTask
    timeout_s: float | None
    future: Future[TrialEvidence] = field(default_factory=Future)
    worker: str = ""
    watch: Stopwatch = field(default_factory=Stopwatch)
    deadline: float = math.inf
    give_up: Callable[[Job], None] | None = None


class Jobs:
    """The jobs of one executor.

    Slots take jobs and settle them. A slot that passes `give_up` has its jobs watched: one that runs past its
    time is settled with the evidence of a timeout, and the slot is told. Whoever settles a job first wins; a
    trial that ends after it was given up changes nothing.
    """

    def __init__(self) -> None:
        """Start with no jobs."""
        lock = threading.Lock()
        self._arrived = threading.Condition(lock)
        self._deadlines = threading.Condition(lock)
        self._lock = lock
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._is_closed = False
        self._watcher: threading.Thread | None = None
        self._watcher_wakes = math.inf

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Add a job to the end of the queue.

        Raises:
            RuntimeError: once closed.
        """
        job = Job(task, timeout_s)
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the executor is closed and takes no more trials")
            self._waiting.append(job)
            self._arrived.notify()
        return job.future

    def take(self, worker: str, give_up: Callable[[Job], None] | None = None) -> Job | None:
        """Wait for a job and begin it; None once closed and no job is left."""
        with self._lock:
            while True:
                job = self._begin(worker, give_up)
                if job is not None or self._is_closed:
                    return job
                self._arrived.wait()

    def take_now(self, worker: str, give_up: Callable[[Job], None] | None = None) -> Job | None:
        """Begin a job if one is waiting."""
        with self._lock:
            return self._begin(worker, give_up)

    def settle(self, job: Job, outcome: TrialEvidence | BaseException) -> bool:
        """End a running job; return False where it was settled before."""
        with self._lock:
            if job not in self._running:
                return False
            self._running.remove(job)
            if self._is_closed:
                self._deadlines.notify()  # the watcher ends with the last job
        if isinstance(outcome, BaseException):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
        return True

    def close(self, *, now: bool) -> None:
        """Take no more jobs, and wait for those there are; with `now`, cancel them instead.

        A running trial is not stopped by this; its future raises `CancelledError`.
        """
        with self._lock:
            self._is_closed = True
            left = [*self._waiting, *self._running]
            if now:
                self._waiting.clear()
            self._arrived.notify_all()
            self._deadlines.notify()
        if now:
            for job in left:
                if not job.future.cancel():
                    self.settle(job, CancelledError("the executor was closed"))
        wait([job.future for job in left if not job.future.cancelled()])

    def _begin(self, worker: str, give_up: Callable[[Job], None] | None) -> Job | None:
        while self._waiting:
            job = self._waiting.popleft()
            if not job.future.set_running_or_notify_cancel():
                continue
            job.worker, job.watch, job.give_up = worker, Stopwatch(), give_up
            self._running.add(job)
            if give_up is not None and job.timeout_s is not None:
                self._set_deadline(job, time.monotonic() + job.timeout_s)
            return job
        return None

    def _set_deadline(self, job: Job, deadline: float) -> None:
        job.deadline = deadline
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._give_up_late, name="opfield deadlines", daemon=True)
            self._watcher.start()
        elif deadline < self._watcher_wakes:
            self._deadlines.notify()

    def _give_up_late(self) -> None:
        while (late := self._late()) is not None:
            for job in late:
                failure = timeout_failure(job.timeout_s or 0.0)
                evidence = failure_evidence(job.task, failure, job.watch, job.worker)
                if self.settle(job, evidence) and job.give_up is not None:
                    job.give_up(job)

    def _late(self) -> list[Job] | None:
        """Wait until a running job is late and return all that are; None once closed and none is running."""
        with self._lock:
            while True:
                present = time.monotonic()
                late = [job for job in self._running if job.deadline <= present]
                if late:
                    return late
                if self._is_closed and not self._running:
                    return None
                self._watcher_wakes = min((job.deadline for job in self._running), default=math.inf)
                is_idle = math.isinf(self._watcher_wakes)
                self._deadlines.wait(None if is_idle else self._watcher_wakes - present)
