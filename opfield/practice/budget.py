"""What a search may use, what it used, and what an attempt declares to have used (ADR-0232 §10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from opfield.practice.form import Digest, Text

COMPUTE_BUDGET_POLICY_VERSION: Final = "compute_budget.v1"


@dataclass(frozen=True, slots=True)
class BudgetCharge:
    """What an attempt declares to have used.

    Attributes:
        candidates: candidates considered; at least 1 for an attempt that can be bound.
        steps: steps taken; at least 1 for an attempt that can be bound.
    """

    candidates: int
    steps: int


@dataclass(frozen=True, slots=True)
class BudgetConsumed:
    """What a run used when it was recorded, beside the ceilings that it copied from its budget decision.

    Attributes:
        candidates_considered: candidates used.
        depth_reached: greatest depth used.
        steps_used: steps used.
        max_candidates: most candidates.
        max_depth: greatest depth.
        max_steps: most steps.
        max_parallelism: attempts at a time; exactly 1 in the first policy.
    """

    candidates_considered: int
    depth_reached: int
    steps_used: int
    max_candidates: int
    max_depth: int
    max_steps: int
    max_parallelism: int


@dataclass(frozen=True, slots=True)
class ComputeBudgetDecision:
    """The ceilings that were decided for a search.

    Attributes:
        budget_id: identity of the decision.
        budget_policy_version: rule by which it was decided.
        gate_decision_id: gate decision that let the search begin.
        max_candidates: most candidates.
        max_depth: greatest depth.
        max_steps: most steps.
        max_parallelism: attempts at a time.
        reason_codes: why, as codes.
        explanation: why, in words; outside the identity.
    """

    budget_id: Digest
    budget_policy_version: str
    gate_decision_id: Digest
    max_candidates: int
    max_depth: int
    max_steps: int
    max_parallelism: int
    reason_codes: tuple[str, ...]
    explanation: Text
