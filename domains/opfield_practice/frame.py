"""The toy's ground: a problem as it was read, and a contract that asks for roles."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from opfield.practice import SourceSpan, canonical_id


@dataclass(frozen=True, slots=True)
class TypedCue:
    """Words of the source that could fill roles of one type.

    Attributes:
        cue_type: type of what the words name, such as `city`.
        span: where they stand.
    """

    cue_type: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ProblemFrame:
    """A problem as it was read: what is known of it, and what was seen but not understood.

    Attributes:
        text: the source.
        filled_roles: (role, filler) pairs that reading found.
        cues: words that were seen and typed, in the source's order.
    """

    text: str
    filled_roles: tuple[tuple[str, str], ...]
    cues: tuple[TypedCue, ...]

    @property
    def digest(self) -> str:
        """Identity of the problem as it was read."""
        cues = [[cue.cue_type, cue.span.start, cue.span.end] for cue in self.cues]
        return canonical_id(
            {"text": self.text, "filled_roles": [list(each) for each in self.filled_roles], "cues": cues}
        )


@dataclass(frozen=True, slots=True)
class Contract:
    """What an answer to a problem has to name.

    Attributes:
        contract_id: name and version.
        role_types: (role, type of its filler) pairs, in order.
    """

    contract_id: str
    role_types: tuple[tuple[str, str], ...]

    def open_roles(self, filled: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        """Return the roles that nothing fills, or nothing of their own, in the contract's order."""
        fillers: dict[str, str] = {}
        for role, filler in filled:
            if filler not in fillers.values():
                fillers.setdefault(role, filler)
        return tuple(role for role, _ in self.role_types if role not in fillers)


def span_of(text: str, words: str) -> SourceSpan:
    """Return where words first stand in a text."""
    start = text.index(words)
    return SourceSpan(hashlib.sha256(text.encode()).hexdigest(), len(text), start, start + len(words), words)
