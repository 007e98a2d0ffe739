"""Execution that makes nothing twice: what was kept under a derivation key stands for a run (§40.2, §40.3)."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from opfield.core import Envelope, Status, check_envelope
from opfield.core.execution import Execution, Observation, failed
from opfield.errors import OpfieldError
from opfield.interpret.derive import source_key, step_key, wiring_over
from opfield.interpret.wiring import Wire, Wiring
from opfield.plan import Plan
from opfield.plugin import Registry
from opfield.plugin.running import FREE, Terms, located, run_operation

#: Outputs by derivation key.
Shelf = MutableMapping[str, tuple[Envelope, ...]]


@dataclass(frozen=True, slots=True)
class Reused:
    """An execution with what it did not have to make.

    Attributes:
        execution: the outcome; its observations are those of what ran.
        ran: ids of the operations that ran, in order.
        reused: ids of the operations whose kept outputs stood for them, in order.
        derived: id and derivation key of each step that gave outputs, in the order of the plan's wiring.
    """

    execution: Execution
    ran: tuple[str, ...]
    reused: tuple[str, ...]
    derived: tuple[tuple[str, str], ...] = ()

    def evidence(self, plan: str, registry: str) -> dict[str, Any]:
        """Return what a trial's evidence tells of the execution, so that the relation `derivations` reads it.

        Args:
            plan: identity of the plan.
            registry: identity of the registry that gave it its meaning.
        """
        told = [{"operation": operation, "key": key} for operation, key in self.derived]
        return {"plan": plan, "registry": registry, "derivations": told}


class _Making:
    """What a plan made so far, step after step, with the key of the step that comes next."""

    def __init__(self, graph: Wiring, inputs: Sequence[Envelope]) -> None:
        self.graph = graph
        self.inputs = inputs
        self.made: list[tuple[Envelope, ...]] = []
        self._keys: list[str] = []

    def at(self, wire: Wire) -> Envelope:
        """Return what a wire carries."""
        return self.inputs[wire.index] if wire.source is None else self.made[wire.source][wire.index]

    def key(self) -> str:
        """Return the key of the next step."""
        ix = len(self.made)
        return step_key(self.graph, ix, [self._source(wire, ix) for wire in self.graph.steps[ix].inputs])

    def add(self, key: str, outputs: tuple[Envelope, ...]) -> None:
        """Say what the next step made."""
        self._keys.append(key)
        self.made.append(outputs)

    def derived(self) -> tuple[tuple[str, str], ...]:
        """Return operation and key of each step that was made."""
        return tuple((step.operation.id, key) for step, key in zip(self.graph.steps, self._keys, strict=False))

    def outputs(self) -> tuple[Envelope, ...]:
        """Return what the whole plan made."""
        return tuple(self.at(wire) for wire in self.graph.outputs)

    def _source(self, wire: Wire, ix: int) -> str:
        # What gives other outputs each time is no ground for a key; the output that was there is.
        if wire.source is not None and not self.graph.steps[wire.source].operation.is_deterministic:
            return self.at(wire).digest
        return source_key(wire, self.graph.steps[ix], self.inputs, self._keys)


def replay(
    plan: Plan, registry: Registry, inputs: Sequence[Envelope], kept: Mapping[str, Sequence[Envelope]]
) -> Execution:
    """Return what a plan made of envelopes, from what was kept under its derivation keys alone; nothing runs.

    It needs no determinism: what a stochastic operation gave is retained material, and replaying it claims no more
    (§40.2). What was not kept, or does not verify, is an infrastructure failure that names the operation and its key.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    making = _Making(wiring_over(plan, registry.descriptors, inputs), inputs)
    problem = _altered(inputs)
    if problem is not None:
        return problem
    for step in making.graph.steps:
        key = making.key()
        found = kept.get(key, ())
        if not _verifies(found, step.operation.outputs):
            message = f"nothing that verifies was kept of operation {step.operation.id} under {key}"
            return failed(Status.INFRASTRUCTURE_FAILURE, "not_kept", message)
        making.add(key, tuple(found))
    return Execution(Status.SUCCESS, making.outputs())


def execute_reusing(
    plan: Plan, registry: Registry, inputs: Sequence[Envelope], shelf: Shelf, terms: Terms = FREE
) -> Reused:
    """Return what a plan makes of envelopes, from a shelf where it can, and put on the shelf what ran.

    Only operations that claim to be cacheable are taken from the shelf, and only what verifies: a kept envelope that
    was altered, or has another schema, is made again. Whatever ran is put there, so that it can be replayed; failures
    are not.

    Args:
        plan: the plan.
        registry: where its operations are registered.
        inputs: an envelope for each wire of the plan's input port.
        shelf: outputs by derivation key.
        terms: what running is subject to: who may stop it, and how long each operation may take.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan; nothing was run.
    """
    making = _Making(wiring_over(plan, registry.descriptors, inputs), inputs)
    problem = _altered(inputs)
    if problem is not None:
        return Reused(problem, (), ())
    ran: list[str] = []
    reused: list[str] = []
    told: list[Observation] = []
    for step in making.graph.steps:
        operation, key = step.operation, making.key()
        kept = shelf.get(key) if operation.is_cacheable else None
        if kept is not None and _verifies(kept, operation.outputs):
            making.add(key, tuple(kept))
            reused.append(operation.id)
            continue
        taken = [making.at(wire) for wire in step.inputs]
        done = run_operation(registry, registry.operations[operation.id], taken, terms)
        ran.append(operation.id)
        told += located(done.observations, step.branch)
        if done.status is not Status.SUCCESS:
            ended = Execution(done.status, (), tuple(told), done.failure)
            return Reused(ended, tuple(ran), tuple(reused), making.derived())
        making.add(key, done.outputs)
        shelf[key] = done.outputs
    ended = Execution(Status.SUCCESS, making.outputs(), tuple(told))
    return Reused(ended, tuple(ran), tuple(reused), making.derived())


def _altered(inputs: Sequence[Envelope]) -> Execution | None:
    """Return the failure that inputs are which do not verify; None where they do."""
    try:
        for each in inputs:
            check_envelope(each)
    except OpfieldError as error:
        return failed(Status.INFRASTRUCTURE_FAILURE, "invalid_input", str(error))
    return None


def _verifies(kept: Any, port: Sequence[str]) -> bool:
    if not isinstance(kept, tuple | list) or not all(isinstance(each, Envelope) for each in kept):
        return False
    if tuple(each.schema for each in kept) != tuple(port):
        return False
    return _altered(kept) is None
