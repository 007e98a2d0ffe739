"""What a change invalidates, computed from a plan: what reads a changed part, and all that follows (§22, §40.3).

A patch declares its direct targets, labels of the parts of a specification that it changes. What it invalidates are the
operations that depend on a target and every operation downstream of those. A closure that a patch declares is checked
against them: its labels must name exactly these operations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from opfield.core.operation import OperationDescriptor
from opfield.errors import DeclarationError, unknown_name
from opfield.interpret.wiring import Wiring, wiring
from opfield.plan import Plan


def invalidated(plan: Plan, operations: Mapping[str, OperationDescriptor], targets: Iterable[str]) -> tuple[int, ...]:
    """Return the steps of a plan that a change of these parts invalidates, in the order of its wiring.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        targets: labels of what changes.

    Raises:
        UnknownNameError: for a label on which no operation of the plan depends.
        PlanError: listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    changed = set(targets)
    known = {label for step in graph.steps for label in step.operation.dependencies}
    for label in sorted(changed - known):
        raise unknown_name("dependency label", label, known)
    reached: set[int] = set()
    # Steps stand after what they take from, so that each is met once.
    for ix, step in enumerate(graph.steps):
        if changed & {*step.operation.dependencies} or any(wire.source in reached for wire in step.inputs):
            reached.add(ix)
    return tuple(sorted(reached))


def closure(plan: Plan, operations: Mapping[str, OperationDescriptor], targets: Iterable[str]) -> tuple[str, ...]:
    """Return the labels of everything that a change of these parts invalidates, sorted: the widest closure."""
    graph = wiring(plan, operations)
    steps = invalidated(plan, operations, targets)
    return tuple(sorted({label for ix in steps for label in graph.steps[ix].operation.dependencies}))


def check_closure(
    plan: Plan, operations: Mapping[str, OperationDescriptor], targets: Collection[str], declared: Iterable[str]
) -> None:
    """Refuse a declared closure whose labels name other operations than the change invalidates, in whatever order.

    Raises:
        DeclarationError: naming the operations that are left out, and those that are named without need.
        UnknownNameError: for a label on which no operation of the plan depends.
    """
    graph = wiring(plan, operations)
    needed = _names(graph, invalidated(plan, operations, targets))
    labels = set(declared)
    known = {label for step in graph.steps for label in step.operation.dependencies}
    for label in sorted(labels - known):
        raise unknown_name("dependency label", label, known)
    named = _names(graph, (ix for ix, each in enumerate(graph.steps) if labels & {*each.operation.dependencies}))
    left_out, needless = sorted(needed - named), sorted(named - needed)
    if left_out or needless:
        raise DeclarationError(
            f"the closure of a change of {', '.join(sorted(targets))} leaves out {', '.join(left_out) or 'nothing'} "
            f"and names without need {', '.join(needless) or 'nothing'}"
        )


def _names(graph: Wiring, steps: Iterable[int]) -> set[str]:
    return {graph.steps[ix].operation.id for ix in steps}
