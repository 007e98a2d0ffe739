"""The engine: declared coordinates minus accepted cells, until none is left; then the views decide (DESIGN §9)."""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from opfield.campaign.attempts import Attempt, EarlierAttempts, read_attempts, record_attempt
from opfield.campaign.declaration import Campaign, Limits
from opfield.campaign.ending import (
    AWAITING_REVIEW,
    Outcome,
    finish,
    outcome_of,
    pending_coordinates,
    trial_payload,
)
from opfield.campaign.evidence import TrialEvidence, TrialTask, failure_evidence
from opfield.campaign.executors import TrialExecutor, open_executor
from opfield.campaign.interrupt import asked_to_stop
from opfield.campaign.judge import early_looks, is_settled
from opfield.campaign.prepare import Prepared, prepare, trial_context
from opfield.campaign.progress import Progress, Silence
from opfield.campaign.provenance import provenance, runner_source
from opfield.campaign.results import keep_results
from opfield.campaign.schedule import WorkQueue, interleaved
from opfield.campaign.spending import Spending
from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.core import Failure, Status
from opfield.errors import DeclarationError, LostRaceError, OpfieldError
from opfield.experiment import Coordinate
from opfield.prob import coordinate_seed
from opfield.warehouse import ledger
from opfield.warehouse.admission import admit_bindings
from opfield.warehouse.lock import Locking, hold
from opfield.warehouse.store import create_store, default_root
from opfield.warehouse.views import installed_views

_TICK_S: Final = 0.1
#: Bound on reloads after lost races; each means that another writer made progress.
_RELOADS: Final = 10_000


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


def run(
    campaign: Campaign, warehouse: Path | str | None = None, options: RunOptions | None = None, **more: Any
) -> Outcome:
    """Run a campaign to its end, or go on where it was interrupted; a finished one is left as it is.

    Args:
        campaign: the declaration.
        warehouse: warehouse folder, made where it is not there; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.
        options: how to carry it out.
        **more: members of `RunOptions` that differ from `options`.

    Raises:
        DeclarationError: where the declaration cannot be carried out; nothing was recorded.
        HeldError: where another process is writing this campaign.
        WarehouseError: where the warehouse cannot be written; what was accepted is safe.
    """
    chosen = replace(options or RunOptions(), **more)
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
        self.last_failure: Failure | None = None
        self.left_pending = 0
        # A first opening whose every trial breaks down shows a fault in the runner, not in the candidates.
        self.is_unproven = writer.state.cells == 0
        self.broken: list[Failure] = []
        self.changed_source: str | None = None
        recorded, torn = read_attempts(writer.root, writer.campaign_id)
        # Attempts of earlier openings; the limit on attempts counts those of this one.
        self.tried_before = {each.coordinate: each.attempt for each in recorded}
        self.earlier = EarlierAttempts(recorded, is_whole=not torn)

    def carry_out(self) -> _Stop:
        writer = self.writer
        if writer.state.terminal:
            keep_results(writer)
            return _Stop(writer.state.terminal, _source_note(self._changed_source()))
        # An executor that does not suit the runner is refused here, before the first event.
        context = trial_context(self.prepared, str(writer.root))
        executor = open_executor(self.options.executor, context, self.options.workers)
        is_clean = False
        try:
            self._start()
            stop = self._run_planned(executor)
            is_clean = stop is None
        finally:
            executor.close(now=not is_clean)
        if stop is not None:
            return stop
        awaited = finish(writer)
        return _Stop(AWAITING_REVIEW, awaited) if awaited else _Stop("completed")

    def _changed_source(self) -> str | None:
        """Return the digest of the runner's source, where it is another one than when the campaign started."""
        source = runner_source(self.prepared.campaign.runner)
        return None if source == self.writer.state.started["provenance"]["source"] else source or "unknown"

    def _start(self) -> None:
        writer, prepared, options = self.writer, self.prepared, self.options
        if writer.state.sequence:
            self.changed_source = self._changed_source()
            if self.changed_source is not None and not options.accept_runner_change:
                raise DeclarationError(
                    f"{_source_note(self.changed_source)}. Or put the old source back, or accept the change with "
                    "--accept-runner-change; it is then recorded with each cell"
                )
        else:
            if prepared.campaign.bindings:
                admit_bindings(writer.root, prepared.campaign.bindings.values())
            told = provenance(prepared.campaign.runner, options.target, options.options)
            writer.accept(ledger.CAMPAIGN_STARTED, {**prepared.started, "provenance": told}, prepared.artifacts)
        for payload in prepared.registered:
            if payload["candidate_id"] not in writer.state.registered:
                writer.accept(ledger.CANDIDATE_REGISTERED, payload)
        writer.flush()

    def _run_planned(self, executor: TrialExecutor) -> _Stop | None:
        """Run up to each early look of a sequential gate, and on unless the gates are settled by then.

        Returns:
            Why it stopped early, None where every planned coordinate has its cell.
        """
        writer = self.writer
        told = writer.root, writer.campaign_id, writer.state.started
        for cases in early_looks(*told) if writer.state.planned is None else ():
            pending = pending_coordinates(writer, cases)
            stop = self._run_trials(executor, pending) if pending else None
            if stop is not None:
                return stop
            if writer.state.cells * writer.state.started["cases"] == cases * writer.state.declared_cells and is_settled(
                *told
            ):
                writer.accept(ledger.PLAN_CLOSED, {"cases": cases, "reason": "every sequential gate is settled"})
                writer.flush()
                break
        pending = pending_coordinates(writer)
        return self._run_trials(executor, pending) if pending else None

    def _run_trials(self, executor: TrialExecutor, pending: list[Coordinate]) -> _Stop | None:
        """Run what is pending; return why it stopped early, None where each of these coordinates has its cell."""
        writer, progress = self.writer, self.options.progress
        work = WorkQueue.of(interleaved(pending, self.prepared.campaign.seed_root))
        stop: _Stop | None = None
        progress.begin(self.prepared.campaign.name, writer.state.declared_cells, writer.state.cells)
        try:
            with asked_to_stop() as asked:
                while (work or self.tasks) and stop is None:
                    self._dispatch(executor, work)
                    self._collect(work, _TICK_S)
                    stop = self._reason_to_stop(asked.is_set(), is_done=not work and not self.tasks)
            if stop is not None:
                # What waits is cancelled first; what finished meanwhile is kept.
                executor.close(now=True)
                self._collect(work, 0.0)
        finally:
            try:
                writer.flush()
            finally:
                progress.end()
        missing = writer.state.declared_cells - writer.state.cells
        if stop is not None:
            return replace(stop, pending=missing)
        if self.left_pending:
            reason = f"{self.left_pending} coordinates failed for want of infrastructure"
            return _Stop("pending", reason, missing)
        return None

    def _reason_to_stop(self, is_asked: bool, is_done: bool) -> _Stop | None:
        """Return why no further trial should start, None where nothing speaks against it."""
        if is_asked:
            return _Stop("interrupted", "stopped on request")
        if self.failed_in_row >= self.limits.pause_after * self.limits.attempts:
            told = f"{self.last_failure.code}: {self.last_failure.message}" if self.last_failure else "unknown"
            reason = f"{self.failed_in_row} attempts in a row failed for want of infrastructure, the last one by {told}"
            return _Stop("paused", reason)
        if self.is_unproven and len(self.broken) >= self.limits.pause_after and not is_done:
            last = self.broken[-1]
            return _Stop(
                "paused",
                f"the first {len(self.broken)} trials all broke down, the last one by {last.code}: {last.message}. "
                "Mend the runner, try it with `opfield try`, and give it a new version",
            )
        return None

    def _dispatch(self, executor: TrialExecutor, work: WorkQueue) -> None:
        while len(self.tasks) < 2 * executor.slots:
            chosen = work.next(time.monotonic())
            if chosen is None:
                return
            coordinate, attempt = chosen
            seed = coordinate_seed(self.prepared.campaign.seed_root, coordinate.case_id, coordinate.repeat)
            task = TrialTask(coordinate, seed, self.tried_before.get(coordinate, 0) + attempt)
            future = executor.submit(task, self.limits.timeout_s)
            self.tasks[future] = task
            future.add_done_callback(self.done.put)
            if executor.slots == 1:
                # An in-line trial has taken the caller's time already: it is accepted before the next one starts.
                return

    def _collect(self, work: WorkQueue, wait_s: float) -> None:
        """Take what finished; wait where nothing did, at most so long."""
        try:
            future = self.done.get(timeout=wait_s) if wait_s else self.done.get_nowait()
            while True:
                self._take(future, work)
                future = self.done.get_nowait()
        except queue.Empty:
            return

    def _take(self, future: Future[TrialEvidence], work: WorkQueue) -> None:
        task = self.tasks.pop(future)
        try:
            evidence = future.result()
        except CancelledError:
            return
        except OpfieldError:
            raise
        except Exception as error:  # the executor itself broke; a foreign one may raise anything
            failure = Failure("executor", f"the executor failed: {error!r}", is_retryable=True)
            evidence = failure_evidence(task, failure, secrets=tuple(self.prepared.campaign.secrets))
        if evidence.status is Status.INFRASTRUCTURE_FAILURE and evidence.failure and evidence.failure.is_retryable:
            self._put_off(task, evidence, evidence.failure, work)
            return
        self.failed_in_row = 0
        if evidence.status is Status.INFRASTRUCTURE_FAILURE and evidence.failure is not None:
            self.broken.append(evidence.failure)
        else:
            self.is_unproven = False
        payload = trial_payload(self.earlier.charged_to(evidence), task.seed)
        if self.changed_source is not None:
            payload["runner_source"] = self.changed_source
        self.writer.accept(ledger.TRIAL_COMPLETED, payload, evidence.artifacts)
        self.options.progress.accepted(evidence.status)

    def _put_off(self, task: TrialTask, evidence: TrialEvidence, failure: Failure, work: WorkQueue) -> None:
        """Record an attempt that says nothing about quality; try its coordinate again later, or leave it pending."""
        spent = Spending(evidence.cost_usd, evidence.input_tokens, evidence.output_tokens)
        attempt = Attempt(task.coordinate, task.attempt, failure, evidence.finished_at, spent)
        record_attempt(self.writer.root, self.writer.campaign_id, attempt)
        self.earlier.add(attempt)
        self.failed_in_row += 1
        self.last_failure = failure
        made = task.attempt - self.tried_before.get(task.coordinate, 0)
        if made < self.limits.attempts:
            work.retry(task.coordinate, made + 1, time.monotonic() + self.limits.backoff_s * 2 ** (made - 1))
        else:
            self.left_pending += 1


def _source_note(changed: str | None) -> str:
    """Return what to say of a runner whose source changed since the campaign started; nothing where it did not."""
    if changed is None:
        return ""
    return (
        "the runner's source changed since this campaign started; to measure it again, give it another version "
        '(`run.version = "2"` on a function, `version = "2"` in a class): that is a campaign of its own'
    )
