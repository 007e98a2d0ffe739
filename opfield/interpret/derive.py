"""Derivation keys: the identity of what each operation of a plan makes, from what it is and what it reads (§40.2).

A key covers the operation's descriptor without its cost, and for each wire the key of what it comes from. Of an input
of the plan it covers the fields that the operation declares to read, and everything where it declares none, or where
the payload has not all of them by name. What gives other outputs each time has its place in the plan in its key, and
what follows from it follows from the output that was there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opfield.core import Envelope, canonical_json, digest
from opfield.core.operation import OperationDescriptor
from opfield.errors import PlanError
from opfield.interpret.wiring import Step, Wire, Wiring, port_given, wiring
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

    Below an operation that gives other outputs each time a key says where its material comes from, and not that two
    runs have equal material.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        inputs: an envelope for each wire of the plan's input port.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    graph = wiring_over(plan, operations, inputs)
    keys: list[str] = []
    for ix, step in enumerate(graph.steps):
        keys.append(step_key(graph, ix, [source_key(wire, step, inputs, keys) for wire in step.inputs]))
    return Derivation(graph, tuple(keys))


def common_steps(one: Derivation, other: Derivation) -> frozenset[str]:
    """Return the keys that two derivations share: what one made, the other need not make again."""
    return frozenset(one.keys) & frozenset(other.keys)


def wiring_over(plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Sequence[Envelope]) -> Wiring:
    """Return a plan as a graph, given inputs that are its own.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    given = port_given(inputs)
    if given != plan.inputs:
        raise PlanError(f"the plan takes {', '.join(plan.inputs)}, was given {', '.join(given) or 'nothing'}")
    return graph


def step_key(graph: Wiring, ix: int, sources: Sequence[str]) -> str:
    """Return the key of a step whose wires have these keys."""
    step = graph.steps[ix]
    place = () if step.operation.is_deterministic else (f"step {ix}",)
    return digest(_DOMAIN, canonical_json(_meaning(step)), *place, *sources)


def source_key(wire: Wire, step: Step, inputs: Sequence[Envelope], keys: Sequence[str]) -> str:
    """Return the key of what a wire brings to a step, from the keys of the steps before it."""
    if wire.source is not None:
        return digest(_DOMAIN, keys[wire.source], str(wire.index))
    envelope, names = inputs[wire.index], step.operation.fields_read(wire.schema)
    payload = envelope.payload
    if names is None or not isinstance(payload, dict) or not payload.keys() >= set(names):
        return envelope.digest
    return digest(_DOMAIN, envelope.schema, canonical_json({name: payload[name] for name in names}))


def _meaning(step: Step) -> dict[str, Any]:
    """Return what an operation is, without what it merely costs."""
    told = step.operation.as_json()
    del told["cost"]
    return told
