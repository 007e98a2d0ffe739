"""A practice loop for opfield: one missing role, typed cues, and attempts that join their run by a binding (ADR-0232).

`python -m opfield_practice` walks from contract assessment to sealed trace; with `--records` it prints what
`opfield bind` reads.
"""

from opfield_practice.frame import Contract, ProblemFrame, TypedCue, span_of
from opfield_practice.loop import CONTRACT, FRAME, Episode, walk
from opfield_practice.missing_role import MISSING_ROLE_CANDIDATE_POLICY_VERSION, build_missing_role_candidate

__all__ = [
    "CONTRACT",
    "FRAME",
    "MISSING_ROLE_CANDIDATE_POLICY_VERSION",
    "Contract",
    "Episode",
    "ProblemFrame",
    "TypedCue",
    "build_missing_role_candidate",
    "span_of",
    "walk",
]
