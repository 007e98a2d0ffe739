"""Execution that makes nothing twice: what was kept under a derivation key stands for a run (§40.2, §40.3)."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass

from opfield.core import Envelope, Status, check_envelope
from opfield.core.execution import Execution, Observation, failed
from opfield.errors import OpfieldError
from opfield.interpret.derive import derive
from opfield.interpret.wiring import Wire
from opfield.plan import Plan
from opfield.plugin import Registry
from opfield.plugin.running import run_operation

#: Outputs by derivation key.
Shelf = MutableMapping[str, tuple[Envelope, ...]]


@dataclass(frozen=True, slots=True)
class Reused:
    """An execution with what it did not have to make.

    Attributes:
        execution: the outcome; its observations are those of what ran.
        ran: ids of the operations that ran, in order.
        reused: ids of the operations whose kept outputs stood for them, in order.
    """

    execution: Execution
    ran: tuple[str, ...]
    reused: tuple[str, ...]


def replay(
    plan: Plan, registry: Registry, inputs: Sequence[Envelope], kept: Mapping[str, Sequence[Envelope]]
) -> Execution:
    """Return what a plan made of envelopes, from what was kept under its derivation keys alone; nothing runs.

    It needs no determinism: what a stochastic operation gave is retained material, and replaying it claims no more
    (§40.2). What was not kept, or does not verify, is an infrastructure failure that names the operation and its key.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    derivation = derive(plan, registry.descriptors, inputs)
    for step, key in zip(derivation.graph.steps, derivation.keys, strict=True):
        if not _verifies(kept.get(key, ()), step.operation.outputs):
            message = f"nothing that verifies was kept of operation {step.operation.id} under {key}"
            return failed(Status.INFRASTRUCTURE_FAILURE, "not_kept", message)
    outputs = (
        inputs[wire.index] if wire.source is None else kept[derivation.keys[wire.source]][wire.index]
        for wire in derivation.graph.outputs
    )
    return Execution(Status.SUCCESS, tuple(outputs))


def execute_reusing(plan: Plan, registry: Registry, inputs: Sequence[Envelope], shelf: Shelf) -> Reused:
    """Return what a plan makes of envelopes, from a shelf where it can, and put on the shelf what ran.

    Only operations that claim to be cacheable are taken from the shelf and put there, and only what verifies: a kept
    envelope that was altered, or has another schema, is made again. Failures are never kept.

    Raises:
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan; nothing was run.
    """
    derivation = derive(plan, registry.descriptors, inputs)
    made: list[tuple[Envelope, ...]] = []
    ran: list[str] = []
    reused: list[str] = []
    told: list[Observation] = []

    def at(wire: Wire) -> Envelope:
        return inputs[wire.index] if wire.source is None else made[wire.source][wire.index]

    try:
        for each in inputs:
            check_envelope(each)
    except OpfieldError as error:
        return Reused(failed(Status.INFRASTRUCTURE_FAILURE, "invalid_input", str(error)), (), ())
    for step, key in zip(derivation.graph.steps, derivation.keys, strict=True):
        operation = step.operation
        kept = shelf.get(key) if operation.is_cacheable else None
        if kept is not None and _verifies(kept, operation.outputs):
            made.append(kept)
            reused.append(operation.id)
            continue
        done = run_operation(registry, registry.operations[operation.id], [at(wire) for wire in step.inputs])
        ran.append(operation.id)
        told += done.observations
        if done.status is not Status.SUCCESS:
            failure = Execution(done.status, (), tuple(told), done.failure)
            return Reused(failure, tuple(ran), tuple(reused))
        made.append(done.outputs)
        if operation.is_cacheable:
            shelf[key] = done.outputs
    outputs = tuple(at(wire) for wire in derivation.graph.outputs)
    return Reused(Execution(Status.SUCCESS, outputs, tuple(told)), tuple(ran), tuple(reused))


def _verifies(kept: Sequence[Envelope], port: Sequence[str]) -> bool:
    if tuple(each.schema for each in kept) != tuple(port):
        return False
    try:
        for each in kept:
            check_envelope(each)
    except OpfieldError:
        return False
    return True
