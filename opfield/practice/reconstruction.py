"""The content of a candidate: which role is filled with what, and from which places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opfield.practice.form import Digest, Text
from opfield.practice.identity import canonical_id
from opfield.practice.span import SourceSpan


@dataclass(frozen=True, slots=True)
class CandidateReconstruction:
    """A candidate, complete enough to be replayed.

    Attributes:
        candidate_reconstruction_digest: identity of the reconstruction.
        candidate_digest: identity of what is proposed, whoever proposes it from whichever places.
        problem_frame_digest: problem that it is proposed for.
        role_assignments: (role, filler) pairs, in the operator's order.
        evidence_spans: places that it rests on, in the operator's order.
    """

    candidate_reconstruction_digest: Digest
    candidate_digest: Digest
    problem_frame_digest: Digest
    role_assignments: tuple[tuple[str, Text], ...]
    evidence_spans: tuple[SourceSpan, ...]


def candidate_digest(problem_frame_digest: str, role_assignments: Sequence[tuple[str, str]]) -> str:
    """Return the identity of a candidate: the problem, and what fills which role."""
    return canonical_id(
        {
            "problem_frame_digest": problem_frame_digest,
            "role_assignments": [list(each) for each in role_assignments],
        }
    )
