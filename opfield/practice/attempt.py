"""A candidate attempt: what an operator tried, and what it declares to have used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from opfield.practice.budget import BudgetCharge
from opfield.practice.form import Digest
from opfield.practice.span import SourceSpan


class CandidateReplayStatus(StrEnum):
    """How far the replay of an attempt came; only a pending one can be bound."""

    REPLAY_PENDING = "replay_pending"
    REPLAY_BLOCKED = "replay_blocked"
    REPLAY_DONE = "replay_done"


@dataclass(frozen=True, slots=True)
class CandidateAttempt:
    """One attempt at a candidate.

    Attributes:
        attempt_id: identity of the attempt.
        attempt_index: position in its run, counted from 0, as the operator declares it.
        candidate_digest: identity of the candidate.
        replay_status: how far its replay came.
        replay_blockers: what keeps it from being replayed; empty for one that can be bound.
        budget_charge: what it used.
        depth: depth at which it was found.
        step_index: step of the run at which it began, counted from 0.
        evidence_spans: places that it rests on, in the operator's order.
    """

    attempt_id: Digest
    attempt_index: int
    candidate_digest: Digest
    replay_status: CandidateReplayStatus
    replay_blockers: tuple[str, ...]
    budget_charge: BudgetCharge
    depth: int
    step_index: int
    evidence_spans: tuple[SourceSpan, ...]
