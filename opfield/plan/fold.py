"""The one generic fold: meanings of the seven constructors give the meaning of every plan (§6.5, §A.5).

An interpreter is an algebra. It cannot skip a part without saying so in its own methods, and no plugin can add a kind
of node that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from opfield.core.operation import OperationDescriptor, Port
from opfield.plan.term import Plan
from opfield.plan.validate import check_plan

Meaning = TypeVar("Meaning")


class Algebra(Protocol[Meaning]):
    """Meanings of the constructors; `parts` are the meanings of the children, in order."""

    def identity(self, port: Port) -> Meaning:
        """Return the meaning of leaving wires alone."""
        ...

    def primitive(self, operation: OperationDescriptor) -> Meaning:
        """Return the meaning of one operation."""
        ...

    def sequence(self, inputs: Port, outputs: Port, parts: Sequence[Meaning]) -> Meaning:
        """Return the meaning of parts one after the other."""
        ...

    def tensor(self, inputs: Port, outputs: Port, parts: Sequence[Meaning]) -> Meaning:
        """Return the meaning of parts side by side."""
        ...

    def permute(self, inputs: Port, permutation: tuple[int, ...]) -> Meaning:
        """Return the meaning of reordering wires: output wire i is input wire `permutation[i]`."""
        ...

    def copy(self, port: Port) -> Meaning:
        """Return the meaning of giving wires twice."""
        ...

    def drop(self, port: Port) -> Meaning:
        """Return the meaning of giving nothing on."""
        ...


def fold(plan: Plan, algebra: Algebra[Meaning], operations: Mapping[str, OperationDescriptor]) -> Meaning:
    """Return the meaning of a plan in an algebra, each node met once, children before their parent.

    Args:
        plan: the plan.
        algebra: meanings of the constructors.
        operations: registered descriptors by operation id.

    Raises:
        PlanError: listing every fault of the plan; nothing was interpreted.
    """
    check_plan(plan, operations)
    meanings: list[Meaning] = []
    # A stack of our own: however deep a plan is, Python's is not.
    waiting: list[tuple[Plan, bool]] = [(plan, False)]
    while waiting:
        node, are_children_done = waiting.pop()
        if node.children and not are_children_done:
            waiting.append((node, True))
            waiting += ((child, False) for child in reversed(node.children))
            continue
        parts = meanings[len(meanings) - len(node.children) :]
        del meanings[len(meanings) - len(node.children) :]
        match node.kind:
            case "identity":
                meaning = algebra.identity(node.inputs)
            case "primitive":
                meaning = algebra.primitive(operations[node.operation])
            case "sequence":
                meaning = algebra.sequence(node.inputs, node.outputs, parts)
            case "tensor":
                meaning = algebra.tensor(node.inputs, node.outputs, parts)
            case "permute":
                meaning = algebra.permute(node.inputs, node.permutation)
            case "copy":
                meaning = algebra.copy(node.inputs)
            case "drop":
                meaning = algebra.drop(node.inputs)
        meanings.append(meaning)
    return meanings[0]
