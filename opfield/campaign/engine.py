"""The engine: declared coordinates minus accepted cells, until none is left; then the views decide (DESIGN §9)."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, Protocol

from opfield.campaign.attempts import Attempt, read_attempts, record_attempt
from opfield.campaign.boundary import TrialEvidence, TrialTask, failure_evidence
from opfield.campaign.declaration import Campaign, Limits
from opfield.campaign.executors import TrialExecutor, open_executor
from opfield.campaign.judge import connect_judging, verdict_payloads
from opfield.campaign.prepare import Prepared, prepare, trial_context
from opfield.campaign.provenance import provenance, runner_source
from opfield.campaign.schedule import WorkQueue, interleaved
from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.core import Failure, Status
from opfield.errors import DeclarationError, LostRaceError, OpfieldError
from opfield.experiment import Coordinate
from opfield.prob import coordinate_seed, read_seed
from opfield.warehouse import ledger
from opfield.warehouse.lock import Locking, hold
from opfield.warehouse.session import installed_views
from opfield.warehouse.store import create_store, default_root

_TICK_S: Final = 0.1
#: Bound on reloads after lost races; each means that another writer made progress.
_RELOADS: Final = 10_000


class Progress(Protocol):
    """Where the engine tells how far it is; the command line draws it."""

    def begin(self, name: str, total: int, accepted: int) -> None:
        """Tell the number of declared coordinates and how many have a cell already."""
        ...

    def accepted(self, status: Status) -> None:
        """Tell that one more cell was accepted."""
        ...

    def end(self) -> None:
        """Tell that no more trials will run."""
        ...


class Silence:
    """Progress that nobody watches."""

    def begin(self, name: str, total: int, accepted: int) -> None:
        """Say nothing."""

    def accepted(self, status: Status) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a campaign is carried out; operational, outside its identity.

    Attributes:
        executor: inline, threads, processes, coroutines, auto, or any `concurrent.futures.Executor`.
        workers: trials in flight; the executor's default where None.
        progress: who is told how far it is.
        accept_runner_change: go on although the runner's source is not the one the campaign started under.
        target: what names the campaign on the command line, recorded so that `resume` finds it again.
        options: options given with it.
        locking: how the campaign is taken for writing; replaced in tests.
    """

    executor: str | Executor = "auto"
    workers: int | None = None
    progress: Progress = field(default_factory=Silence)
    accept_runner_change: bool = False
    target: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    locking: Locking = hold


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a campaign stands after `run`.

    Attributes:
        campaign_id: identity of the campaign.
        state: `completed`, `cancelled`, `paused` (failures in a row), `pending` (some coordinates have no cell yet) or
            `interrupted`.
        selected: selected candidate id, the baseline's where it is kept; None while undecided.
        outcome: `selected`, `kept_baseline` or `undecided`; None before the end.
        appended: events that this call appended.
        pending: coordinates that have no cell yet.
        reason: why it stopped, in words, where it did not complete.
    """

    campaign_id: str
    state: str
    selected: str | None = None
    outcome: str | None = None
    appended: int = 0
    pending: int = 0
    reason: str = ""


def run(
    campaign: Campaign, warehouse: Path | str | None = None, options: RunOptions | None = None, **more: Any
) -> Outcome:
    """Run a campaign to its end, or go on where it was interrupted; a finished one is left as it is.

    Args:
        campaign: the declaration.
        warehouse: warehouse folder, made where it is not there; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.
        options: how to carry it out.
        **more: members of `RunOptions`, instead of `options`.

    Raises:
        DeclarationError: where the declaration cannot be carried out; nothing was recorded.
        HeldError: where another process is writing this campaign.
        WarehouseError: where the warehouse cannot be written; what was accepted is safe.
    """
    chosen = options or RunOptions(**more)
    prepared = prepare(campaign, installed_views())
    root = create_store(Path(warehouse) if warehouse is not None else default_root()).root
    appended = 0
    for _ in range(_RELOADS):
        with open_writer(root, prepared.campaign_id, chosen.locking) as writer:
            before = writer.state.sequence
            opening = _Opening(writer, prepared, chosen)
            try:
                outcome = opening.carry_out()
            except LostRaceError:
                continue
            appended += writer.state.sequence - before
            return outcome_of(writer, outcome.state, outcome.reason, appended, outcome.pending)
    raise OpfieldError("lost every race for the next event; other writers are at work on this campaign")


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why trials stopped running."""

    state: str
    reason: str = ""
    pending: int = 0


class _Opening:
    """One opening of a campaign for writing: from the loaded history to the end, or to the reason for stopping."""

    def __init__(self, writer: CampaignWriter, prepared: Prepared, options: RunOptions) -> None:
        self.writer = writer
        self.prepared = prepared
        self.options = options
        self.limits: Limits = prepared.campaign.limits
        self.done: queue.SimpleQueue[Future[TrialEvidence]] = queue.SimpleQueue()
        self.tasks: dict[Future[TrialEvidence], TrialTask] = {}
        self.failed_in_row = 0
        self.left_pending = 0
        self.changed_source: str | None = None

    def carry_out(self) -> _Stop:
        writer = self.writer
        if writer.state.terminal:
            return _Stop(writer.state.terminal)
        # An executor that does not suit the runner is refused here, before the first event.
        context = trial_context(self.prepared, str(writer.root))
        executor = open_executor(self.options.executor, context, self.options.workers)
        is_clean = False
        try:
            self._start()
            pending = pending_coordinates(writer)
            stop = self._run_trials(executor, pending) if pending else None
            is_clean = stop is None
        finally:
            executor.close(now=not is_clean)
        if stop is not None:
            return stop
        finish(writer)
        return _Stop("completed")

    def _start(self) -> None:
        writer, prepared, options = self.writer, self.prepared, self.options
        source = runner_source(prepared.campaign.runner)
        if writer.state.sequence:
            recorded = writer.state.started.get("provenance", {}).get("source")
            if source != recorded:
                if not options.accept_runner_change:
                    raise DeclarationError(
                        "the runner's source changed since this campaign started, so the cells before and after would "
                        "not be comparable. Put the old source back, or give the runner a new version and run a new "
                        "campaign, or accept the change with --accept-runner-change; it is then recorded with each cell"
                    )
                self.changed_source = source or "unknown"
        else:
            told = provenance(prepared.campaign.runner, options.target, options.options)
            writer.accept(ledger.CAMPAIGN_STARTED, {**prepared.started, "provenance": told}, prepared.artifacts)
        for payload in prepared.registered:
            if payload["candidate_id"] not in writer.state.registered:
                writer.accept(ledger.CANDIDATE_REGISTERED, payload, prepared.artifacts)
        writer.flush()

    def _run_trials(self, executor: TrialExecutor, pending: list[Coordinate]) -> _Stop | None:
        """Run what is pending; return why it stopped early, None where every coordinate has its cell."""
        writer, progress = self.writer, self.options.progress
        work = WorkQueue.of(interleaved(pending, self.prepared.campaign.seed_root))
        stop: _Stop | None = None
        progress.begin(self.prepared.campaign.name, writer.state.declared_cells, writer.state.cells)
        try:
            with asked_to_stop() as asked:
                while (work or self.tasks) and stop is None:
                    self._dispatch(executor, work)
                    self._collect(work)
                    writer.tick()
                    if asked.is_set():
                        stop = _Stop("interrupted", "stopped on request")
                    elif self.failed_in_row >= self.limits.pause_after * self.limits.attempts:
                        reason = f"{self.failed_in_row} attempts in a row failed for want of infrastructure"
                        stop = _Stop("paused", reason)
        finally:
            progress.end()
        writer.flush()
        missing = writer.state.declared_cells - writer.state.cells
        if stop is not None:
            return replace(stop, pending=missing)
        if self.left_pending:
            reason = f"{self.left_pending} coordinates failed for want of infrastructure"
            return _Stop("pending", reason, missing)
        return None

    def _dispatch(self, executor: TrialExecutor, work: WorkQueue) -> None:
        while len(self.tasks) < 2 * executor.slots:
            chosen = work.next(time.monotonic())
            if chosen is None:
                return
            coordinate, attempt = chosen
            seed = coordinate_seed(self.prepared.campaign.seed_root, coordinate.case_id, coordinate.repeat)
            task = TrialTask(coordinate, seed, attempt)
            future = executor.submit(task, self.limits.timeout_s)
            self.tasks[future] = task
            future.add_done_callback(self.done.put)

    def _collect(self, work: WorkQueue) -> None:
        """Take what finished; wait a tick where nothing did."""
        try:
            future = self.done.get(timeout=_TICK_S)
            while True:
                self._take(future, work)
                future = self.done.get_nowait()
        except queue.Empty:
            return

    def _take(self, future: Future[TrialEvidence], work: WorkQueue) -> None:
        task = self.tasks.pop(future)
        try:
            evidence = future.result()
        except Exception as error:  # the executor itself broke; a foreign one may raise anything
            failure = Failure("executor", f"the executor failed: {error!r}"[:500], is_retryable=True)
            evidence = failure_evidence(task, failure)
        failure_now = evidence.failure
        is_retryable = (
            evidence.status is Status.INFRASTRUCTURE_FAILURE and failure_now is not None and failure_now.is_retryable
        )
        if not is_retryable or failure_now is None:
            self.failed_in_row = 0
            self._accept(evidence)
            return
        record_attempt(
            self.writer.root,
            self.writer.campaign_id,
            Attempt(task.coordinate, task.attempt, failure_now, evidence.finished_at),
        )
        self.failed_in_row += 1
        if task.attempt < self.limits.attempts:
            pause = self.limits.backoff_s * 2 ** (task.attempt - 1)
            work.retry(task.coordinate, task.attempt + 1, time.monotonic() + pause)
        else:
            self.left_pending += 1

    def _accept(self, evidence: TrialEvidence) -> None:
        payload = trial_payload(evidence, coordinate_seed_hex(self.writer, evidence.coordinate))
        if self.changed_source is not None:
            payload["runner_source"] = self.changed_source
        self.writer.accept(ledger.TRIAL_COMPLETED, payload, evidence.artifacts)
        self.options.progress.accepted(evidence.status)


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C or SIGTERM sets, so that no step is cut in the middle; a second one cuts.

    Outside the main thread, where no signal arrives, the event is never set.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def trial_payload(evidence: TrialEvidence, seed: str) -> dict[str, Any]:
    """Return the payload of `trial.completed`."""
    failure = evidence.failure
    coordinate = evidence.coordinate
    return {
        "candidate_id": coordinate.candidate_id,
        "arm": str(coordinate.arm),
        "case_id": coordinate.case_id,
        "repeat": coordinate.repeat,
        "seed": seed,
        "status": evidence.status.value,
        "measurements": [
            {"metric": each.metric, "value": each.value, "missing_reason": each.missing_reason}
            for each in evidence.measurements
        ],
        "failure": None
        if failure is None
        else {"code": failure.code, "message": failure.message, "is_retryable": failure.is_retryable},
        "cost_usd": evidence.cost_usd,
        "input_tokens": evidence.input_tokens,
        "output_tokens": evidence.output_tokens,
        "duration_s": evidence.duration_s,
        "started_at": evidence.started_at,
        "finished_at": evidence.finished_at,
        "artifact_id": evidence.artifact_id,
        "attempts": evidence.attempt,
        "worker": evidence.worker,
    }


def coordinate_seed_hex(writer: CampaignWriter, coordinate: Coordinate) -> str:
    """Return the seed of a coordinate as the ledger writes it."""
    root = read_seed(writer.state.started["identity"]["seed_root"])
    return coordinate_seed(root, coordinate.case_id, coordinate.repeat).hex


def pending_coordinates(writer: CampaignWriter) -> list[Coordinate]:
    """Return the declared coordinates that have no cell: one reading of the view `pending`."""
    with closing(connect_judging(writer.root, writer.campaign_id, writer.state.started, ["pending"])) as con:
        rows = con.execute("select candidate_id, arm, case_id, repeat from pending").fetchall()
    return [Coordinate(*row) for row in rows]


def finish(writer: CampaignWriter) -> None:
    """Record comparison, decision and selection as the views give them; every coordinate has its cell.

    Raises:
        OpfieldError: where the views do not decide although nothing is pending; the projection is then damaged.
    """
    writer.flush()
    state = writer.state
    comparisons, decisions, completed = verdict_payloads(writer.root, writer.campaign_id, state.started)
    if completed is None or set(comparisons) < set(state.registered) or set(decisions) < set(state.registered):
        raise OpfieldError(
            "the views cannot decide this campaign although every coordinate has its cell; `opfield audit` says why"
        )
    for candidate in state.registered:
        if candidate not in state.compared:
            writer.accept(ledger.COMPARISON_RECORDED, comparisons[candidate])
        if candidate not in state.decided:
            writer.accept(ledger.DECISION_RECORDED, decisions[candidate])
    writer.accept(ledger.CAMPAIGN_COMPLETED, completed)
    writer.flush()


def finish_with_failures(root: Path, campaign_id: str, locking: Locking = hold) -> Outcome:
    """Record every pending coordinate as a terminal cell, then finish.

    What failed becomes an infrastructure failure, what was never tried a cancelled cell.

    Raises:
        HeldError: where another process is writing this campaign.
        OpfieldError: where there is no such campaign.
    """
    with open_writer(root, campaign_id, locking) as writer:
        before = writer.state.sequence
        if not before:
            raise OpfieldError(f"campaign {campaign_id} has no history to finish")
        if not writer.state.terminal:
            recorded, _ = read_attempts(root, campaign_id)
            last = {attempt.coordinate: attempt for attempt in recorded}
            for coordinate in interleaved(
                pending_coordinates(writer), read_seed(writer.state.started["identity"]["seed_root"])
            ):
                payload = _closing_payload(coordinate, coordinate_seed_hex(writer, coordinate), last.get(coordinate))
                writer.accept(ledger.TRIAL_COMPLETED, payload)
            finish(writer)
        return outcome_of(writer, writer.state.terminal, "", writer.state.sequence - before, 0)


def _closing_payload(coordinate: Coordinate, seed: str, tried: Attempt | None) -> dict[str, Any]:
    """Return the payload that closes a pending coordinate; nobody measured its times, so they are unknown."""
    if tried is not None:
        evidence = failure_evidence(TrialTask(coordinate, read_seed(seed), tried.attempt), tried.failure)
    else:
        never = Failure("not_attempted", "the campaign was finished before this trial was tried")
        evidence = failure_evidence(TrialTask(coordinate, read_seed(seed), 0), never, status=Status.CANCELLED)
    finished_at = tried.finished_at if tried is not None else None
    return {**trial_payload(evidence, seed), "duration_s": None, "started_at": None, "finished_at": finished_at}


def cancel(root: Path, campaign_id: str, reason: str, locking: Locking = hold) -> Outcome:
    """End a campaign without a verdict, by an event; what was accepted stays.

    Raises:
        HeldError: where another process is writing this campaign; stop it there first.
        OpfieldError: where there is no such campaign.
    """
    with open_writer(root, campaign_id, locking) as writer:
        before = writer.state.sequence
        if not before:
            raise OpfieldError(f"campaign {campaign_id} has no history to cancel")
        if not writer.state.terminal:
            writer.accept(ledger.CAMPAIGN_CANCELLED, {"reason": reason})
            writer.flush()
        missing = writer.state.declared_cells - writer.state.cells
        return outcome_of(writer, writer.state.terminal, "", writer.state.sequence - before, missing)


def outcome_of(writer: CampaignWriter, state: str, reason: str, appended: int, pending: int) -> Outcome:
    """Return where the campaign stands, from its history."""
    told = writer.state.completed if writer.state.terminal == "completed" else {}
    return Outcome(writer.campaign_id, state, told.get("selected"), told.get("outcome"), appended, pending, reason)
