"""A search run: an immutable envelope around what was searched, under which budget, with which attempts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from opfield.practice.attempt import CandidateAttempt
from opfield.practice.budget import BudgetConsumed
from opfield.practice.form import Digest, Text

GEOMETRIC_SEARCH_RUN_POLICY_VERSION: Final = "geometric_search_run.v1"


class AttemptIndexPolicy(StrEnum):
    """Which positions a run supports beside those of its own attempts (ADR-0232 §9).

    `contiguous`: the run's attempts stand at 0, 1, 2 …, and the next position alone is open.
    `declared`: any free position below `max_candidates` is open, so that attempts can join in any order.
    """

    CONTIGUOUS = "contiguous"
    DECLARED = "declared"


@dataclass(frozen=True, slots=True)
class GeometricSearchRun:
    """A search run as it was recorded; nothing ever changes in it.

    Attributes:
        run_id: identity of the run.
        run_policy_version: rule by which it was recorded.
        input_digest: identity of what it was started with.
        original_contract_assessment_id: assessment that left the residuals.
        problem_frame_digest: identity of the problem as it was read.
        residual_ids: residuals that were searched for, in order.
        gate_decision_id: gate decision that let it begin.
        budget_id: budget decision that it ran under.
        operator_set_id: operators that could take part.
        operator_set_version: their version.
        attempt_index_policy: which positions attempts may take.
        candidate_attempts: attempts that the run itself made, in its order.
        budget_consumed: what it used, and its ceilings.
        run_disposition: how it stands, such as `initialized` or `exhausted`.
        exhaustion_code: what ran out; None where nothing did.
        schema_versions: (name, version) pairs, sorted by name, each name once.
        policy_versions: (name, version) pairs, sorted by name, each name once.
        explanation: words for people; outside the identity.
    """

    run_id: Digest
    run_policy_version: str
    input_digest: Digest
    original_contract_assessment_id: Digest
    problem_frame_digest: Digest
    residual_ids: tuple[Digest, ...]
    gate_decision_id: Digest
    budget_id: Digest
    operator_set_id: str
    operator_set_version: str
    attempt_index_policy: AttemptIndexPolicy
    candidate_attempts: tuple[CandidateAttempt, ...]
    budget_consumed: BudgetConsumed
    run_disposition: str
    exhaustion_code: str | None
    schema_versions: tuple[tuple[str, str], ...]
    policy_versions: tuple[tuple[str, str], ...]
    explanation: Text
