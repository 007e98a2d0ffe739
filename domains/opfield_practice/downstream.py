"""What comes behind a binding: the contract replayed with the candidate in place (ADR-0232 §11)."""

from __future__ import annotations

from opfield.practice import (
    CandidateReconstruction,
    ReplayAdapterInput,
    ReplayAdapterResult,
    classify_replay_result,
)
from opfield_practice.frame import Contract, ProblemFrame


def replay_contract(
    replay_input: ReplayAdapterInput, reconstruction: CandidateReconstruction, contract: Contract, frame: ProblemFrame
) -> ReplayAdapterResult:
    """Ask the contract again, with the candidate's roles filled in, and record what it finds."""
    filled = (*frame.filled_roles, *reconstruction.role_assignments)
    return classify_replay_result(replay_input, contract.open_roles(filled))
