"""Derivation keys: the identity of what each operation of a plan makes, from what it is and what it reads (§40.2).

A key covers the operation's descriptor without its cost, and for each wire the key of what it comes from. Of an input
of the plan it covers the fields that the operation declares to read, and everything where it declares none: a field
that is read without being declared is a fault that the conformance kit finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opfield.core import Envelope, canonical_json, digest
from opfield.core.operation import OperationDescriptor
from opfield.errors import PlanError
from opfield.interpret.wiring import Step, Wire, Wiring, wiring
from opfield.plan import Plan

_DOMAIN: Final = "opfield/derivation/v1"


@dataclass(frozen=True, slots=True)
class Derivation:
    """A plan over given inputs, with the identity of everything that it makes.

    Attributes:
        graph: the plan as a graph.
        keys: key of each step of the graph, in order.
    """

    graph: Wiring
    keys: tuple[str, ...]


def derive(plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Sequence[Envelope]) -> Derivation:
    """Return the derivation keys of a plan over inputs, which were checked.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        inputs: an envelope for each wire of the plan's input port.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    given = tuple(each.schema for each in inputs)
    if given != plan.inputs:
        raise PlanError(f"the plan takes {', '.join(plan.inputs)}, was given {', '.join(given) or 'nothing'}")
    keys: list[str] = []
    for step in graph.steps:
        wires = [_wire_key(wire, step.operation, inputs, keys) for wire in step.inputs]
        keys.append(digest(_DOMAIN, canonical_json(_meaning(step)), *wires))
    return Derivation(graph, tuple(keys))


def common_steps(one: Derivation, other: Derivation) -> frozenset[str]:
    """Return the keys that two derivations share: what one made, the other need not make again."""
    return frozenset(one.keys) & frozenset(other.keys)


def _meaning(step: Step) -> dict[str, Any]:
    """Return what an operation is, without what it merely costs."""
    told = step.operation.as_json()
    del told["cost"]
    return told


def _wire_key(wire: Wire, operation: OperationDescriptor, inputs: Sequence[Envelope], keys: Sequence[str]) -> str:
    if wire.source is not None:
        return digest(_DOMAIN, keys[wire.source], str(wire.index))
    envelope, names = inputs[wire.index], operation.fields_read(wire.schema)
    if names is None or not isinstance(envelope.payload, dict):
        return envelope.digest
    read = {name: envelope.payload[name] for name in names if name in envelope.payload}
    return digest(_DOMAIN, envelope.schema, canonical_json(read))
