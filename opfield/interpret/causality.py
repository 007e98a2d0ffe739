"""What a change invalidates, computed from a plan: what reads a changed part, and all that follows (§22, §40.3).

A patch declares its direct targets, labels of the parts of a specification that it changes. What it invalidates are the
operations that depend on a target and every operation downstream of those; its closure names them by their labels. A
closure that a patch declares itself is checked: its labels must name exactly these operations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opfield.core import Envelope
from opfield.core.operation import OperationDescriptor
from opfield.errors import DeclarationError, UnknownNameError, unknown_name
from opfield.experiment import Patch
from opfield.interpret.derive import derive
from opfield.interpret.wiring import Wiring, wiring
from opfield.plan import Plan


@dataclass(frozen=True, slots=True)
class Causality:
    """What changes of a specification invalidate, by the plan of the system that reads it.

    A space that is given it advertises patches with their closures: a domain declares targets alone.

    Attributes:
        plan: the plan.
        operations: registered descriptors by operation id.
        rules: labels of parts that only the specification makes: a change upstream of their operation does not
            invalidate them, so that they stand in a closure as targets alone.
    """

    plan: Plan
    operations: Mapping[str, OperationDescriptor]
    rules: tuple[str, ...] = ()

    def completed(self, patch: Patch) -> Patch:
        """Return a patch with its closure: computed where it declares none, checked and left as it is where it does.

        Raises:
            DeclarationError: naming the patch, where it has no target, a label is unknown, or what it declares is not
                what it invalidates.
        """
        if not patch.targets:
            raise DeclarationError(f"patch {patch.id!r} names no target, so that no plan says what it invalidates")
        try:
            if not patch.closure:
                return replace(patch, closure=closure(self.plan, self.operations, patch.targets, self.rules))
            check_closure(self.plan, self.operations, patch.targets, patch.closure)
        except (DeclarationError, UnknownNameError) as error:
            raise DeclarationError(f"patch {patch.id!r}: {error}") from None
        return patch


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
    return tuple(sorted(_reached(wiring(plan, operations), targets)))


def closure(
    plan: Plan, operations: Mapping[str, OperationDescriptor], targets: Iterable[str], rules: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the closure of a change: its targets, then the labels of all that is downstream, in the plan's order.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        targets: labels of what changes.
        rules: labels that a change upstream of their operation does not invalidate. An operation that has no other
            label is named by them all the same.

    Raises:
        UnknownNameError: for a label on which no operation of the plan depends.
        PlanError: listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    named = list(targets)
    reached = _reached(graph, named)
    _check_known(graph, rules)
    for ix in sorted(reached):
        step = graph.steps[ix]
        if any(wire.source in reached for wire in step.inputs):
            labels = step.operation.dependencies
            named += [each for each in labels if each not in rules] or labels
    return tuple(dict.fromkeys(named))


def check_closure(
    plan: Plan, operations: Mapping[str, OperationDescriptor], targets: Collection[str], declared: Iterable[str]
) -> None:
    """Refuse a declared closure whose labels name other operations than the change invalidates, in whatever order.

    Raises:
        DeclarationError: naming targets and operations that are left out, and operations that are named without need.
        UnknownNameError: for a label on which no operation of the plan depends.
    """
    graph = wiring(plan, operations)
    reached = _reached(graph, targets)
    labels = set(declared)
    _check_known(graph, labels)
    steps = [(ix, step.operation, labels & {*step.operation.dependencies}) for ix, step in enumerate(graph.steps)]
    # What has no label cannot be named, and a label may stand for more than what is needed.
    needed = {operation.id for ix, operation, _ in steps if ix in reached and operation.dependencies}
    named = {operation.id for _, operation, by in steps if by}
    useful = {label for ix, _, by in steps if ix in reached for label in by}
    left_out = sorted({*targets} - labels) + sorted(needed - named)
    needless = sorted({operation.id for _, operation, by in steps if by - useful})
    if left_out or needless:
        raise DeclarationError(
            f"the closure of a change of {', '.join(sorted(targets))} leaves out {', '.join(left_out) or 'nothing'} "
            f"and names without need {', '.join(needless) or 'nothing'}"
        )


def check_targets(
    plan: Plan,
    operations: Mapping[str, OperationDescriptor],
    targets: Collection[str],
    before: Sequence[Envelope],
    after: Sequence[Envelope],
) -> None:
    """Refuse targets that do not reach all whose derivation keys the change moves (§22.3).

    Reuse asks for both: outside of the closure, and equal keys. What moves a key outside of the closure was declared to
    be read, or was not declared as a target; reuse would be decided by either alone.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.
        targets: labels of what changes.
        before: inputs of the plan before the change.
        after: inputs of the plan after it.

    Raises:
        DeclarationError: naming the operations that the targets do not reach.
        UnknownNameError: for a label on which no operation of the plan depends.
        PlanError: where the inputs are not those of the plan, or listing every fault of the plan.
    """
    one, other = (derive(plan, operations, each) for each in (before, after))
    moved = {ix for ix, keys in enumerate(zip(one.keys, other.keys, strict=True)) if keys[0] != keys[1]}
    missed = _names(one.graph, moved.difference(_reached(one.graph, targets)))
    if missed:
        raise DeclarationError(
            f"a change of {', '.join(sorted(targets))} changes what {', '.join(sorted(missed))} reads, which these "
            "targets do not reach"
        )


def _reached(graph: Wiring, targets: Iterable[str]) -> set[int]:
    changed = set(targets)
    _check_known(graph, changed)
    reached: set[int] = set()
    # Steps stand after what they take from, so that each is met once.
    for ix, step in enumerate(graph.steps):
        if changed & {*step.operation.dependencies} or any(wire.source in reached for wire in step.inputs):
            reached.add(ix)
    return reached


def _check_known(graph: Wiring, labels: Iterable[str]) -> None:
    known = {label for step in graph.steps for label in step.operation.dependencies}
    for label in sorted({*labels} - known):
        raise unknown_name("dependency label", label, known)


def _names(graph: Wiring, steps: Iterable[int]) -> set[str]:
    """Return the ids of operations."""
    return {graph.steps[ix].operation.id for ix in steps}
