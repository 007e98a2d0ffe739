"""Where each output of a plan comes from: the inputs and operations on any way to it (§20.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opfield.core.operation import OperationDescriptor
from opfield.interpret.wiring import Wire, Wiring, wiring
from opfield.plan import Plan


@dataclass(frozen=True, slots=True)
class Origin:
    """What one output comes from.

    Attributes:
        schema: schema of the output.
        inputs: positions in the plan's input port, sorted.
        steps: positions of the operations in the order of the plan's wiring, sorted.
        operations: ids of those operations, sorted, each once.
    """

    schema: str
    inputs: tuple[int, ...]
    steps: tuple[int, ...]
    operations: tuple[str, ...]


def provenance(plan: Plan, operations: Mapping[str, OperationDescriptor]) -> tuple[Origin, ...]:
    """Return what each output of a plan comes from, in the order of its output port.

    Raises:
        PlanError: listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    return tuple(_origin(graph, wire) for wire in graph.outputs)


def _origin(graph: Wiring, output: Wire) -> Origin:
    inputs: set[int] = set()
    steps: set[int] = set()
    waiting = [output]
    while waiting:
        wire = waiting.pop()
        if wire.source is None:
            inputs.add(wire.index)
        elif wire.source not in steps:
            steps.add(wire.source)
            waiting += graph.steps[wire.source].inputs
    names = tuple(sorted({graph.steps[ix].operation.id for ix in steps}))
    return Origin(output.schema, tuple(sorted(inputs)), tuple(sorted(steps)), names)
