"""Trials in processes of their own: what hangs can be killed, what crashes takes nothing with it."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import Future
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Literal

from opfield.campaign.boundary import run_trial
from opfield.campaign.evidence import (
    Stopwatch,
    TrialContext,
    TrialEvidence,
    TrialTask,
    failure_evidence,
    timeout_failure,
)
from opfield.campaign.failures import printable, safe_text, secret_values
from opfield.campaign.jobs import Job, Jobs
from opfield.core import Failure
from opfield.errors import DeclarationError
from opfield.experiment import runner_name

# A forked worker would inherit the lock on the campaign (DESIGN §5); a spawned one inherits its pipes only.
_SPAWN: Final = multiprocessing.get_context("spawn")
# How long a worker may take until it can run trials: it imports what the runner imports.
_START_S: Final = 300.0
# How long a worker may take to end by itself before it is killed.
_GRACE_S: Final = 0.5
# How often a silent worker is checked: a process it left behind may keep its pipe open after its death.
_LOOK_S: Final = 1.0
_SOME_MAIN: Final = '`if __name__ == "__main__":`'


class ProcessExecutor:
    """Runs trials in spawned worker processes, each served by a thread.

    A late trial's worker is killed, with all that it started, and replaced; one that dies is replaced too.
    Workers ignore Ctrl-C, which is the coordinator's to handle, and die with the coordinator however it ends.
    """

    def __init__(self, context: TrialContext, workers: int) -> None:
        """Start the threads; each starts its worker with its first trial.

        Raises:
            DeclarationError: where the context cannot be sent to another process.
        """
        self.slots = workers
        self._payload = pickled_context(context)
        self._runner = runner_name(context.runner)
        self._secrets = context.secrets
        self._jobs = Jobs()
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        self._is_killed = False
        self._was_ready = False
        self._threads = [
            threading.Thread(target=self._serve, args=(name,), name=f"opfield {name}", daemon=True)
            for name in (f"process-{number}" for number in range(workers))
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close, now=True)

    def submit(self, task: TrialTask, timeout_s: float | None) -> Future[TrialEvidence]:
        """Queue the trial for the next free worker."""
        return self._jobs.submit(task, timeout_s)

    def close(self, *, now: bool) -> None:
        """End the workers once all trials have ended; with `now`, kill them."""
        self._jobs.close(now=now)
        if now:
            with self._lock:
                self._is_killed = True
                for worker in self._workers:
                    worker.signal(signal.SIGKILL)
        for thread in self._threads:
            thread.join()
        atexit.unregister(self.close)

    def _serve(self, name: str) -> None:
        # A worker inherits this until it ignores the signal itself: a Ctrl-C while it starts must not end it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        worker: _Worker | None = None
        while (job := self._jobs.take(name)) is not None:
            outcome: TrialEvidence | BaseException
            try:
                if worker is not None and worker.is_dead():
                    self._end(worker)
                    worker = None
                worker = worker or self._started(name)
                outcome = worker.run(job)
            except _DiedError as died:
                outcome = failure_evidence(job.task, died.failure, job.watch, name)
            except BaseException as error:
                outcome = error
            if worker is not None and not worker.is_usable:
                self._end(worker)
                worker = None
            self._jobs.settle(job, outcome)
        if worker is not None:
            self._end(worker)

    def _started(self, name: str) -> _Worker:
        """Return a worker that is ready to run trials.

        Raises:
            DeclarationError: where no worker can be started at all.
            _DiedError: where this one died.
        """
        with self._lock:
            if self._is_killed:
                raise _DiedError("the executor was closed")
            for other in self._workers:
                if other.is_dead():
                    other.signal(signal.SIGKILL)  # while it can be: starting a process reaps all dead ones
            worker = _Worker(name)
            self._workers.add(worker)
        try:
            refusal = worker.prepare(self._payload)
        except _DiedError as died:
            self._end(worker)
            if self._was_ready:
                raise
            raise DeclarationError(
                f"no worker process can be started: {died.failure.message}. A script that starts a campaign "
                f"must do so under {_SOME_MAIN}; or take the executor threads"
            ) from None
        if refusal is not None:
            self._end(worker)
            raise DeclarationError(f"runner {self._runner}: {printable(refusal, secret_values(self._secrets))}")
        self._was_ready = True
        return worker

    def _end(self, worker: _Worker) -> None:
        worker.end()
        self._forget(worker)

    def _forget(self, worker: _Worker) -> None:
        with self._lock:
            self._workers.discard(worker)


def pickled_context(context: TrialContext) -> bytes:
    """Return the context as it travels to another process.

    Raises:
        DeclarationError: where a part of it cannot; the message names the part and the remedy.
    """
    try:
        return pickle.dumps(context)
    except Exception as error:
        reason = printable(f"{type(error).__name__}: {safe_text(error)}", secret_values(context.secrets))
    name = runner_name(context.runner)
    try:
        pickle.dumps(context.runner)
    except Exception:
        raise DeclarationError(
            f"runner {name} cannot be sent to another process ({reason}). Define it at module level, as a "
            "function or an instance whose members can be pickled, or take the executor threads"
        ) from None
    raise DeclarationError(
        f"the cases or specifications for runner {name} cannot be sent to another process ({reason}). Make "
        "them plain JSON values, or take the executor threads"
    )


def unpickled_context(payload: bytes) -> TrialContext:
    """Return the context that `pickled_context` wrote.

    Raises:
        DeclarationError: where this process cannot import what it names.
    """
    try:
        context: TrialContext = pickle.loads(payload)
    except Exception as error:
        raise DeclarationError(
            f"it cannot be loaded where trials run ({type(error).__name__}: {safe_text(error)}). Define it "
            "at module level in a module that can be imported there, or take the executor threads"
        ) from None
    return context


class _DiedError(Exception):
    """A worker died, or gave no sign of life."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.failure = Failure("worker_died", message, is_retryable=True)


class _Worker:
    """One worker process, seen from the coordinator; used by one thread, but for `signal`."""

    def __init__(self, name: str) -> None:
        self.is_usable = True
        self._pipe, theirs = _SPAWN.Pipe()
        self.process: SpawnProcess = _SPAWN.Process(target=_work, args=(theirs, name), name=f"opfield {name}")
        self.process.start()
        theirs.close()

    def prepare(self, payload: bytes) -> str | None:
        """Send the context; return why the worker cannot use it, None where it can."""
        try:
            self._receive(_START_S)  # sent after that, since a large payload would wait for a reader
            self._pipe.send_bytes(payload)
            refusal: str | None = self._receive(_START_S)
        except TimeoutError:
            raise _DiedError(f"the worker process was not ready within {_START_S:g} s") from None
        except Exception:
            raise _DiedError(f"the worker process {self._death()} before it was ready") from None
        return refusal

    def run(self, job: Job) -> TrialEvidence:
        """Run one trial; the worker is not usable afterwards where it was late or died."""
        job.watch = Stopwatch()
        try:
            self._pipe.send(job.task)
            evidence: TrialEvidence = self._receive(job.timeout_s)
        except TimeoutError:
            self.is_usable = False
            self.signal(signal.SIGTERM)
            return failure_evidence(job.task, timeout_failure(job.timeout_s or 0.0), job.watch, job.worker)
        except Exception:
            self.is_usable = False
            raise _DiedError(f"the worker process {self._death()} during the trial") from None
        return evidence

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the worker and all that it started; to nobody once the worker has been reaped.

        From then on its number may be another process's, or another group's.
        """
        pid = self.process.pid
        assert pid is not None, "the process was started"
        if self._stage() == "reaped":
            return
        with contextlib.suppress(OSError):
            try:
                os.killpg(pid, number)
            except ProcessLookupError:
                os.kill(pid, number)  # it does not lead a group of its own yet

    def is_dead(self) -> bool:
        """Return whether the worker has ended; does not reap it, so that `signal` still reaches what it started."""
        return self._stage() != "running"

    def _stage(self) -> Literal["running", "dead", "reaped"]:
        if sys.platform == "darwin":  # it cannot look without reaping; what a dead worker started lives on there
            return "running" if self.process.is_alive() else "reaped"
        try:
            ended = os.waitid(os.P_PID, self.process.pid or 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "reaped"
        return "running" if ended is None else "dead"

    def end(self) -> None:
        """Close the pipe, upon which the worker ends; kill what is left of it and of what it started."""
        self._pipe.close()
        wait([self.process.sentinel], _GRACE_S)
        self.signal(signal.SIGKILL)
        self.process.join()

    def _receive(self, within_s: float | None) -> Any:
        """Return the next message.

        Raises:
            TimeoutError: where none came in time.
            EOFError: where the worker died.
        """
        end = None if within_s is None else time.monotonic() + within_s
        while True:
            left = _LOOK_S if end is None else min(_LOOK_S, max(0.0, end - time.monotonic()))
            if self._pipe.poll(left):
                return self._pipe.recv()
            if self.is_dead() and not self._pipe.poll(0):
                raise EOFError
            if end is not None and time.monotonic() >= end:
                raise TimeoutError

    def _death(self) -> str:
        """Return how the worker ended, after what it started was killed."""
        end = time.monotonic() + _GRACE_S
        while not self.is_dead():
            if time.monotonic() > end:
                return "broke its pipe"
            time.sleep(0.01)  # its pipe closes before it is gone
        self.signal(signal.SIGKILL)
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"ended with exit status {code}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"


def _work(pipe: Connection, name: str) -> None:
    """Run trials until the coordinator closes the pipe or dies: the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _keep_to_itself()
    _die_with_coordinator()
    pipe.send(None)
    try:
        context = unpickled_context(pipe.recv_bytes())
    except BaseException as error:
        pipe.send(safe_text(error))
        return
    pipe.send(None)
    with contextlib.suppress(EOFError):
        while True:
            task: TrialTask = pipe.recv()
            try:
                evidence = run_trial(context, task, name)
            except KeyboardInterrupt:
                # No person can have sent it, since the signal is ignored here.
                failure = Failure("keyboard_interrupt", "the runner raised KeyboardInterrupt")
                evidence = failure_evidence(task, failure, Stopwatch(), name)
            pipe.send(evidence)


def _keep_to_itself() -> None:
    """Lead a process group, so that what the runner starts can be ended too; hand down no open file to it."""
    os.setpgid(0, 0)
    for descriptor in os.listdir("/dev/fd"):
        if int(descriptor) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(descriptor), False)


def _die_with_coordinator() -> None:
    """End this process, and all that it started, as soon as the coordinator is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = int(parent.sentinel)

    def watch() -> None:
        wait([sentinel])
        os.killpg(0, signal.SIGKILL)

    # A runner inside compiled code may hold the interpreter's lock, so that no thread of ours runs. The kernel
    # itself signals the group when the coordinator's end of the pipe closes; unhandled, that ends a process.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(sentinel, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=watch, name="opfield coordinator watch", daemon=True).start()
