"""How a campaign ends: by the verdict of its views, on the failures there are, or without a verdict."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.campaign.attempts import Attempt, EarlierAttempts, read_attempts
from opfield.campaign.computed import evidence_payloads
from opfield.campaign.evidence import TrialEvidence, TrialTask, failure_evidence
from opfield.campaign.judge import awaited_reviews, connect_judging, judging_views, review_gates, verdict_payloads
from opfield.campaign.results import AFTERWARDS, VERDICT_RESULTS, keep_results, lay_out_verdict
from opfield.campaign.schedule import interleaved
from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.core import Failure, Status
from opfield.errors import OpfieldError
from opfield.experiment import Coordinate
from opfield.prob import Seed, coordinate_seed, read_seed
from opfield.warehouse import ledger
from opfield.warehouse.lock import Locking, hold
from opfield.warehouse.notebook import facts_html
from opfield.warehouse.session import take_snapshot
from opfield.warehouse.snapshot import Snapshot
from opfield.warehouse.views import JUDGING

#: What is done with a verdict in the snapshot that computed it, once it is recorded.
Look = Callable[[Snapshot], None]

#: State of a campaign whose every cell is there and which only people can decide.
AWAITING_REVIEW: Final = "awaiting_review"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a campaign stands after `run`.

    Attributes:
        campaign_id: identity of the campaign.
        state: `completed`, `cancelled`, `paused` (failures in a row), `pending` (some coordinates have no cell yet),
            `interrupted` or `awaiting_review` (only people can decide now).
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

    def _repr_html_(self) -> str:
        return facts_html("outcome", asdict(self))


def outcome_of(writer: CampaignWriter, state: str, reason: str, appended: int, pending: int) -> Outcome:
    """Return where the campaign stands, from its history."""
    told = writer.state.completed if writer.state.terminal == "completed" else {}
    return Outcome(writer.campaign_id, state, told.get("selected"), told.get("outcome"), appended, pending, reason)


def pending_coordinates(writer: CampaignWriter, first_cases: int | None = None) -> list[Coordinate]:
    """Return the declared coordinates that have no cell: one reading of the view `pending`.

    Args:
        writer: the campaign.
        first_cases: only those of so many cases of the registered order; of all where None.
    """
    query, wanted, given = "select candidate_id, arm, case_id, repeat from pending", ["pending"], []
    if first_cases is not None:
        query += " semi join (from planned_cases where position <= $1) as first_cases using (campaign_id, case_id)"
        wanted, given = ["pending", "planned_cases"], [first_cases]
    with closing(connect_judging(writer.root, writer.campaign_id, writer.state.started, wanted)) as con:
        rows = con.execute(query, given).fetchall()
    return [Coordinate(*row) for row in rows]


def finish(writer: CampaignWriter, *, without_review: bool = False, look: Look | None = None) -> str:
    """Record computed evidence, then comparison, decision and selection as the views give them; no cell is pending.

    Comparisons come first, since people review them: while a candidate reaches a review gate that still lacks
    approvals, nothing is decided.

    Args:
        writer: the campaign.
        without_review: decide with the reviews there are.
        look: what reads the verdict where the campaign is completed, so that showing it does not compute it again.

    Returns:
        Whose review is awaited and how to give it, in words; empty where the campaign is completed.

    Raises:
        OpfieldError: where the views do not decide although nothing is pending; the projection is then damaged.
    """
    writer.flush()
    state = writer.state
    if not state.compared:
        for payload in evidence_payloads(writer.root, writer.campaign_id, state.started, without=state.evidenced):
            writer.accept(ledger.EVIDENCE_RECORDED, payload)
        writer.flush()
    views = judging_views(writer.root, writer.campaign_id, state.started)
    results = [name for name in (*AFTERWARDS, *VERDICT_RESULTS) if name in views.named]
    snapshot = take_snapshot(writer.root, writer.campaign_id, {*JUDGING, *results}, views)
    with closing(snapshot.con) as con:
        awaited = _record_verdict(writer, con, without_review=without_review)
        if not awaited:
            # The verdict is an event by now, and what tells the campaign's state has to know it.
            snapshot.list_files()
            snapshot.ask_again(AFTERWARDS)
            with ThreadPoolExecutor(1, thread_name_prefix="opfield-results") as pool:
                # On a connection of its own: every result is a table by now.
                laying = pool.submit(lay_out_verdict, writer, con.cursor(), results)
                if look:
                    look(snapshot)
                laying.result()
    return awaited


def _record_verdict(writer: CampaignWriter, con: duckdb.DuckDBPyConnection, *, without_review: bool) -> str:
    """Record what a connection says of a campaign, as `finish` tells."""
    state = writer.state
    comparisons, decisions, completed = verdict_payloads(con)
    if completed is None or state.registered.keys() - comparisons.keys() or state.registered.keys() - decisions.keys():
        raise OpfieldError(
            "the views cannot decide this campaign although every coordinate has its cell; `opfield audit` says why"
        )
    for candidate in state.registered:
        if candidate not in state.compared:
            writer.accept(ledger.COMPARISON_RECORDED, comparisons[candidate])
    if not without_review and review_gates(state.started):
        writer.flush()
        awaited = _awaited(writer)
        if awaited:
            return awaited
    for candidate in state.registered:
        if candidate not in state.decided:
            writer.accept(ledger.DECISION_RECORDED, decisions[candidate])
    writer.accept(ledger.CAMPAIGN_COMPLETED, completed)
    writer.flush()
    return ""


def _awaited(writer: CampaignWriter) -> str:
    """Return whose review is awaited and how to give it; empty where nobody's is."""
    rows = awaited_reviews(writer.root, writer.campaign_id, writer.state.started)
    if not rows:
        return ""
    named = ", ".join(f"{row['label']} ({row['approvals']} of {row['needed']} approvals)" for row in rows)
    has_keys = any(gate["options"].get("keys") for gate in review_gates(writer.state.started))
    command = f"opfield review {shlex.quote(rows[0]['label'])} --approve --by NAME{' --key FILE' if has_keys else ''}"
    return f"{named} cannot be decided before somebody reviews; `{command}`, or --reject"


def finish_with_failures(
    root: Path, campaign_id: str, locking: Locking = hold, *, without_review: bool = False
) -> Outcome:
    """Record every pending coordinate as a terminal cell, then finish.

    What failed becomes an infrastructure failure, what was never tried a cancelled cell.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        locking: how the campaign is taken for writing.
        without_review: decide with the reviews there are, instead of waiting for those that are lacking.

    Raises:
        HeldError: where another process is writing this campaign.
        OpfieldError: where there is no such campaign.
    """
    with open_writer(root, campaign_id, locking) as writer:
        before = writer.state.sequence
        if not before:
            raise OpfieldError(f"campaign {campaign_id} has no history to finish")
        if not writer.state.terminal:
            recorded, torn = read_attempts(root, campaign_id)
            earlier = EarlierAttempts(recorded, is_whole=not torn)
            last = {attempt.coordinate: attempt for attempt in recorded}
            root_seed = read_seed(writer.state.started["identity"]["seed_root"])
            for coordinate in interleaved(pending_coordinates(writer), root_seed):
                seed = coordinate_seed(root_seed, coordinate.case_id, coordinate.repeat)
                payload = _closing_payload(coordinate, seed, last.get(coordinate), earlier)
                writer.accept(ledger.TRIAL_COMPLETED, payload)
            awaited = finish(writer, without_review=without_review)
            if awaited:
                return outcome_of(writer, AWAITING_REVIEW, awaited, writer.state.sequence - before, 0)
        keep_results(writer)
        return outcome_of(writer, writer.state.terminal, "", writer.state.sequence - before, 0)


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
        keep_results(writer)
        missing = writer.state.declared_cells - writer.state.cells
        return outcome_of(writer, writer.state.terminal, "", writer.state.sequence - before, missing)


def trial_payload(evidence: TrialEvidence, seed: Seed) -> dict[str, Any]:
    """Return the payload of `trial.completed`."""
    failure = evidence.failure
    coordinate = evidence.coordinate
    return {
        "candidate_id": coordinate.candidate_id,
        "arm": str(coordinate.arm),
        "case_id": coordinate.case_id,
        "repeat": coordinate.repeat,
        "seed": seed.hex,
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


def _closing_payload(
    coordinate: Coordinate, seed: Seed, tried: Attempt | None, earlier: EarlierAttempts
) -> dict[str, Any]:
    """Return the payload that closes a pending coordinate; nobody measured its times, so they are unknown."""
    if tried is not None:
        failed = failure_evidence(TrialTask(coordinate, seed, tried.attempt), tried.failure)
        evidence = replace(failed, **earlier.spent(coordinate, tried.attempt)._asdict())
    else:
        never = Failure("not_attempted", "the campaign was finished before this trial was tried")
        evidence = failure_evidence(TrialTask(coordinate, seed, 0), never, status=Status.CANCELLED)
    finished_at = tried.finished_at if tried is not None else None
    return {**trial_payload(evidence, seed), "duration_s": None, "started_at": None, "finished_at": finished_at}
