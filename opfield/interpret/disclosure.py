"""Which data classes reach a remote party, and whether each may: told from the plan, before anything runs (§41.2).

A wire bears data classes. What an operation gives bears those of all its inputs and those that it emits, without those
that it clears: an authorization clears what it has authorized. An operation that discloses to a remote party may be
given the classes that it admits and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from opfield.core.operation import Effect, OperationDescriptor
from opfield.errors import PlanError, unknown_name
from opfield.interpret.wiring import Wire, Wiring, wiring
from opfield.plan import Plan


@dataclass(frozen=True, slots=True)
class Breach:
    """A data class that reaches a remote party which does not admit it.

    Attributes:
        data_class: the class.
        path: the schema or operation that it comes from, then every operation on a way to the one that discloses it.
    """

    data_class: str
    path: tuple[str, ...]


def check_disclosure(
    plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Mapping[str, Collection[str]] | None = None
) -> None:
    """Refuse a plan that would disclose what it may not.

    Raises:
        PlanError: naming each class with its path, or listing the faults of the plan.
    """
    breaches = disclosures(plan, operations, inputs)
    if breaches:
        listed = "; ".join(f"{each.data_class} by {' -> '.join(each.path)}" for each in breaches)
        raise PlanError(
            f"the plan would disclose what its remote operations do not admit: {listed}; "
            "clear the class on the way, by an authorization for one, or let the operation admit it"
        )


def disclosures(
    plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Mapping[str, Collection[str]] | None = None
) -> tuple[Breach, ...]:
    """Return every data class that reaches a remote operation which does not admit it, in the order of the plan.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        inputs: data classes that the plan's inputs bear, by schema.

    Raises:
        UnknownNameError: for a schema that is none of the plan's inputs.
        PlanError: listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    given = inputs or {}
    for schema in sorted(given.keys() - set(plan.inputs)):
        raise unknown_name("input of the plan", schema, plan.inputs)
    # Steps stand after what they take from, so that the classes of their inputs are known.
    borne: list[frozenset[str]] = []

    def classes(wire: Wire) -> frozenset[str]:
        return frozenset(given.get(wire.schema, ())) if wire.source is None else borne[wire.source]

    found: list[Breach] = []
    for ix, step in enumerate(graph.steps):
        taken = frozenset[str]().union(*(classes(wire) for wire in step.inputs))
        borne.append((taken | set(step.operation.emits)) - set(step.operation.clears))
        if Effect.REMOTE_DISCLOSURE in step.operation.effects:
            found += (
                Breach(each, _path(graph, ix, each, classes)) for each in sorted(taken - {*step.operation.admits})
            )
    return tuple(found)


def _path(graph: Wiring, ix: int, data_class: str, classes: Callable[[Wire], frozenset[str]]) -> tuple[str, ...]:
    """Return a way by which a class reaches a step, from where it begins."""
    path = [graph.steps[ix].operation.id]
    while True:
        wire = next((each for each in graph.steps[ix].inputs if data_class in classes(each)), None)
        if wire is None:
            # The operation emits it by itself.
            return tuple(reversed(path))
        if wire.source is None:
            return (wire.schema, *reversed(path))
        ix = wire.source
        path.append(graph.steps[ix].operation.id)
