"""A meaning of plans that tells everything apart: functions on symbolic wires that remember what made them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opfield.core.operation import OperationDescriptor, Port

Frame = list[str]
#: A term of more characters than this is known by its hash: what is copied over and over would grow without end.
_LONGEST = 300


def term(operation: str, taken: Sequence[str], ix: int) -> str:
    """Return the term of an output."""
    told = f"{operation}({', '.join(taken)})"
    return f"{told if len(told) <= _LONGEST else hashlib.sha256(told.encode()).hexdigest()}#{ix}"


@dataclass(frozen=True)
class Arrow:
    """A function from so many wires."""

    width: int
    run: Callable[[Frame], Frame]

    def __call__(self, frame: Frame) -> Frame:
        assert len(frame) == self.width
        return self.run(frame)


class Running:
    """The algebra: a wire is the term that computes it."""

    def identity(self, port: Port) -> Arrow:
        return Arrow(len(port), list)

    def primitive(self, operation: OperationDescriptor) -> Arrow:
        def run(frame: Frame) -> Frame:
            return [term(operation.id, frame, ix) for ix in range(len(operation.outputs))]

        return Arrow(len(operation.inputs), run)

    def sequence(self, inputs: Port, outputs: Port, parts: Sequence[Arrow]) -> Arrow:  # noqa: ARG002  the algebra's form
        def run(frame: Frame) -> Frame:
            for part in parts:
                frame = part(frame)
            return frame

        return Arrow(len(inputs), run)

    def tensor(self, inputs: Port, outputs: Port, parts: Sequence[Arrow]) -> Arrow:  # noqa: ARG002  the algebra's form
        def run(frame: Frame) -> Frame:
            made: Frame = []
            for part in parts:
                made += part(frame[: part.width])
                frame = frame[part.width :]
            return made

        return Arrow(len(inputs), run)

    def permute(self, inputs: Port, permutation: tuple[int, ...]) -> Arrow:
        return Arrow(len(inputs), lambda frame: [frame[ix] for ix in permutation])

    def copy(self, port: Port) -> Arrow:
        return Arrow(len(port), lambda frame: frame * 2)

    def drop(self, port: Port) -> Arrow:
        return Arrow(len(port), lambda _: [])
