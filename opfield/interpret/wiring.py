"""A plan as a graph: each operation once where it stands, and for each wire what it comes from.

Diagrams, provenance and disclosure all read this one graph, so that none of them can follow wires otherwise than
another. A wire is an input of the plan, or an output of an operation; structure only leads wires on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from opfield.core import Envelope
from opfield.core.operation import OperationDescriptor, Port
from opfield.plan import Plan, check_plan, fold, normalize


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire.

    Attributes:
        schema: schema of what it carries.
        source: step that gives it, counted from 0; None where it is an input of the plan.
        index: which output of that step, or which input of the plan.
    """

    schema: str
    source: int | None
    index: int


@dataclass(frozen=True, slots=True)
class Step:
    """One operation where it stands.

    Attributes:
        operation: what runs.
        inputs: the wires that it takes, in order.
        branch: where in the plan's normal form it stands: the index of the part taken at each tensor and sequence, from
            outside in, as observations of an execution bear it.
    """

    operation: OperationDescriptor
    inputs: tuple[Wire, ...]
    branch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Wiring:
    """A plan as a graph, in an order in which each step stands after all that it takes from.

    Attributes:
        inputs: the plan's input port.
        steps: the operations.
        outputs: the wires that come out, in order.
    """

    inputs: Port
    steps: tuple[Step, ...]
    outputs: tuple[Wire, ...]


_Frame = Sequence[Wire]
_Branch = tuple[int, ...]
_Trace = Callable[[_Frame, list[Step], _Branch], list[Wire]]


@dataclass(frozen=True, slots=True)
class _Part:
    """How a part leads wires on: it appends its steps, and gives the wires that come out."""

    width: int
    trace: _Trace


class _Tracing:
    def identity(self, port: Port) -> _Part:
        return _Part(len(port), lambda frame, *_: list(frame))

    def primitive(self, operation: OperationDescriptor) -> _Part:
        def trace(frame: _Frame, steps: list[Step], branch: _Branch) -> list[Wire]:
            steps.append(Step(operation, tuple(frame), branch))
            return [Wire(schema, len(steps) - 1, ix) for ix, schema in enumerate(operation.outputs)]

        return _Part(len(operation.inputs), trace)

    def sequence(self, inputs: Port, outputs: Port, parts: Sequence[_Part]) -> _Part:  # noqa: ARG002  the algebra's form
        def trace(frame: _Frame, steps: list[Step], branch: _Branch) -> list[Wire]:
            led = list(frame)
            for ix, part in enumerate(parts):
                led = part.trace(led, steps, (*branch, ix))
            return led

        return _Part(len(inputs), trace)

    def tensor(self, inputs: Port, outputs: Port, parts: Sequence[_Part]) -> _Part:  # noqa: ARG002  the algebra's form
        def trace(frame: _Frame, steps: list[Step], branch: _Branch) -> list[Wire]:
            led: list[Wire] = []
            start = 0
            for ix, part in enumerate(parts):
                led += part.trace(frame[start : start + part.width], steps, (*branch, ix))
                start += part.width
            return led

        return _Part(len(inputs), trace)

    def permute(self, inputs: Port, permutation: tuple[int, ...]) -> _Part:
        return _Part(len(inputs), lambda frame, *_: [frame[ix] for ix in permutation])

    def copy(self, port: Port) -> _Part:
        return _Part(len(port), lambda frame, *_: [*frame, *frame])

    def drop(self, port: Port) -> _Part:
        return _Part(len(port), lambda *_: [])


def port_given(inputs: Sequence[Envelope]) -> Port:
    """Return the schemas of what is given, for what is no envelope words that are none."""
    return tuple(
        each.schema if isinstance(each, Envelope) else f"{type(each).__name__}, which is no envelope; see `seal`"
        for each in inputs
    )


def wiring(plan: Plan, operations: Mapping[str, OperationDescriptor]) -> Wiring:
    """Return a plan as a graph.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.

    Raises:
        PlanError: listing every fault of the plan.
    """
    steps: list[Step] = []
    frame = [Wire(schema, None, ix) for ix, schema in enumerate(plan.inputs)]
    if not plan.is_normal:
        check_plan(plan, operations)
        plan = normalize(plan)
    outputs = fold(plan, _Tracing(), operations).trace(frame, steps, ())
    return Wiring(plan.inputs, tuple(steps), tuple(outputs))
