"""Which data classes reach a remote party, and whether each may: told from the plan, before anything runs (§41.2).

A wire bears data classes: those of all that it was made from, and those that the operations on the way emit. An
operation that discloses to a remote party may be given the classes that it admits. Any other has to be authorized: an
authorization clears classes and gives a certificate beside what it has authorized, and the remote operation takes that
certificate. It counts where it *dominates* the disclosure: every way from where the class comes from to the remote
operation passes an authorization that clears the class and whose certificate, unchanged, is one of the operation's
inputs. An authorization behind it, beside it, or whose certificate stays away, authorizes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from opfield.core.operation import Effect, OperationDescriptor
from opfield.errors import PlanError, unknown_name
from opfield.interpret.wiring import Step, Wire, Wiring, wiring
from opfield.plan import Plan

_Classes = frozenset[str]


@dataclass(frozen=True, slots=True)
class Breach:
    """A data class that reaches a remote party which does not admit it, by a way that no certificate covers.

    Attributes:
        data_class: the class.
        path: the schema or operation that it comes from, then every operation on a way to the one that discloses it.
        uncertified: operations on that way which clear the class, but whose certificate the last one is not given.
    """

    data_class: str
    path: tuple[str, ...]
    uncertified: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the breach in words."""
        told = f"{self.data_class} by {' -> '.join(self.path)}"
        if not self.uncertified:
            return told
        return f"{told} ({', '.join(self.uncertified)} clears it, and {self.path[-1]} is not given the certificate)"


def check_disclosure(
    plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Mapping[str, Collection[str]] | None = None
) -> None:
    """Refuse a plan that would disclose what it may not.

    Raises:
        PlanError: naming each class with its path, or listing the faults of the plan.
    """
    breaches = disclosures(plan, operations, inputs)
    if breaches:
        raise PlanError(
            "the plan would disclose what its remote operations do not admit and no authorization dominates: "
            f"{'; '.join(map(str, breaches))}; authorize the class on every way there and give the operation the "
            "certificate, or let the operation admit it"
        )


def disclosures(
    plan: Plan, operations: Mapping[str, OperationDescriptor], inputs: Mapping[str, Collection[str]] | None = None
) -> tuple[Breach, ...]:
    """Return every data class that reaches a remote operation and may not, in the order of the plan.

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
    bearing = _Bearing(graph, given)
    found: list[Breach] = []
    for ix, step in enumerate(graph.steps):
        if Effect.REMOTE_DISCLOSURE in step.operation.effects:
            for each in sorted(bearing.reaching(step) - {*step.operation.admits}):
                breach = bearing.breach(ix, each)
                found += () if breach is None else (breach,)
    return tuple(found)


def _certified(graph: Wiring, step: Step) -> frozenset[int]:
    """Return the authorizations whose certificates a step is given."""
    return frozenset(
        wire.source
        for wire in step.inputs
        if wire.source is not None and graph.steps[wire.source].operation.certifies == wire.schema
    )


class _Bearing:
    """Which classes wires bear as long as nobody authorizes anything, and by which way they reach a step."""

    def __init__(self, graph: Wiring, given: Mapping[str, Collection[str]]) -> None:
        self._graph = graph
        self._given = given
        #: By step; steps stand after what they take from.
        self._borne: list[_Classes] = []
        for step in graph.steps:
            self._borne.append(self.reaching(step) | {*step.operation.emits})

    def reaching(self, step: Step) -> _Classes:
        """Return the classes that reach a step."""
        return _Classes().union(*map(self._classes, step.inputs))

    def breach(self, last: int, data_class: str) -> Breach | None:
        """Return a way by which a class reaches a step past every authorization that the step has a certificate of."""
        steps, certified = self._graph.steps, _certified(self._graph, self._graph.steps[last])
        #: By step, the one after it on the way.
        after: dict[int, int] = {}
        waiting = [last]
        while waiting:
            ix = waiting.pop()
            operation = steps[ix].operation
            if ix != last and ix in certified and data_class in operation.clears:
                continue
            if ix != last and data_class in operation.emits:
                return self._told((), ix, after, data_class)
            for wire in reversed(steps[ix].inputs):
                if data_class not in self._classes(wire):
                    continue
                if wire.source is None:
                    return self._told((wire.schema,), ix, after, data_class)
                if wire.source not in after:
                    after[wire.source] = ix
                    waiting.append(wire.source)
        return None

    def _told(self, begin: tuple[str, ...], ix: int, after: Mapping[int, int], data_class: str) -> Breach:
        """Return the breach whose way leads from a step to the last."""
        way = [ix]
        while way[-1] in after:
            way.append(after[way[-1]])
        operations = [self._graph.steps[each].operation for each in way]
        cleared = [each.id for each in operations[:-1] if data_class in each.clears]
        return Breach(data_class, (*begin, *(each.id for each in operations)), tuple(cleared))

    def _classes(self, wire: Wire) -> _Classes:
        return frozenset(self._given.get(wire.schema, ())) if wire.source is None else self._borne[wire.source]
