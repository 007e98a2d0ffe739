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
    told: dict[frozenset[int], _Bearing] = {}
    found: list[Breach] = []
    for ix, step in enumerate(graph.steps):
        if Effect.REMOTE_DISCLOSURE not in step.operation.effects:
            continue
        certified = _certified(graph, step)
        bearing = told.setdefault(certified, _Bearing(graph, given, certified))
        found += (bearing.breach(ix, each) for each in sorted(bearing.taken(step, ix) - {*step.operation.admits}))
    return tuple(found)


def _certified(graph: Wiring, step: Step) -> frozenset[int]:
    """Return the authorizations whose certificates a step is given."""
    return frozenset(
        wire.source
        for wire in step.inputs
        if wire.source is not None and graph.steps[wire.source].operation.certifies == wire.schema
    )


class _Bearing:
    """Which classes wires bear, for whom is given the certificates of some authorizations."""

    def __init__(self, graph: Wiring, given: Mapping[str, Collection[str]], certified: frozenset[int]) -> None:
        self._graph = graph
        self._given = given
        self._certified = certified
        #: By step, as far as was asked: steps stand after what they take from.
        self._borne: list[_Classes] = []

    def taken(self, step: Step, ix: int) -> _Classes:
        """Return the classes that reach a step."""
        for at in range(len(self._borne), ix):
            before = self._graph.steps[at]
            cleared = before.operation.clears if at in self._certified else ()
            self._borne.append((self._at(before) | {*before.operation.emits}) - {*cleared})
        return self._at(step)

    def breach(self, ix: int, data_class: str) -> Breach:
        """Return a way by which a class reaches a step, from where it begins."""
        path = [self._graph.steps[ix].operation.id]
        uncertified: list[str] = []
        while True:
            wires = self._graph.steps[ix].inputs
            wire = next((each for each in wires if data_class in self._classes(each)), None)
            if wire is not None and wire.source is None:
                path.append(wire.schema)
            if wire is None or wire.source is None:
                # Where it is borne by no input, the operation emits it by itself.
                return Breach(data_class, tuple(reversed(path)), tuple(reversed(uncertified)))
            ix = wire.source
            operation = self._graph.steps[ix].operation
            path.append(operation.id)
            if data_class in operation.clears:
                uncertified.append(operation.id)

    def _at(self, step: Step) -> _Classes:
        return _Classes().union(*(self._classes(wire) for wire in step.inputs))

    def _classes(self, wire: Wire) -> _Classes:
        return frozenset(self._given.get(wire.schema, ())) if wire.source is None else self._borne[wire.source]
