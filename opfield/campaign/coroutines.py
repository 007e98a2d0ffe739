"""Trials of coroutine runners, interleaved on one event loop: many wait for their answers at once."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from opfield.campaign.boundary import run_trial_async
from opfield.campaign.evidence import TrialContext, TrialEvidence, TrialTask, failure_evidence
from opfield.campaign.jobs import Job, Jobs
from opfield.core import Failure

# How long closing waits for cancelled coroutines, and a late coroutine's loop may take to answer.
_GRACE_S: Final = 0.5


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
