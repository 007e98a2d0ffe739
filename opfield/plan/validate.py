"""What is wrong with a plan: every fault with its place, by itself and against the registered operations (§20.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opfield.errors import PlanError, unknown_name
from opfield.plan.term import KINDS, Plan, Signature, is_permutation, port_text

#: How many faults a message lists.
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        place: where in the plan, such as `children[0].children[2]`; `plan` for the whole.
        message: what is wrong there.
    """

    place: str
    message: str


def check_plan(plan: Plan, operations: Mapping[str, Signature] | None = None) -> None:
    """Refuse a plan that has faults.

    Raises:
        PlanError: listing them.
    """
    found = faults(plan, operations)
    if found:
        listed = "; ".join(f"{each.place}: {each.message}" for each in found[:_MOST_LISTED])
        more = f"; and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
        raise PlanError(f"the plan does not fit together: {listed}{more}")


def faults(plan: Plan, operations: Mapping[str, Signature] | None = None) -> tuple[Fault, ...]:
    """Return everything that is wrong with a plan, in the order of its nodes.

    Args:
        plan: the plan; it may have been built without the constructors.
        operations: registered operations by id. Where given, each primitive must have the signature registered there:
            a plan never runs against an operation that changed under its id.
    """
    found: list[Fault] = []
    waiting: list[tuple[Plan, tuple[int, ...]]] = [(plan, ())]
    while waiting:
        node, path = waiting.pop()
        messages = list(_messages(node, operations))
        if messages:
            place = ".".join(f"children[{ix}]" for ix in path) or "plan"
            found += (Fault(place, message) for message in messages)
        waiting += ((node.children[ix], (*path, ix)) for ix in reversed(range(len(node.children))))
    return tuple(found)


def _messages(node: Plan, operations: Mapping[str, Signature] | None) -> Iterator[str]:
    """Yield what is wrong with one node, its children taken as they are declared."""
    if node.kind not in KINDS:
        yield f"kind {node.kind!r} is none of {', '.join(KINDS)}"
        return
    if not all(isinstance(schema, str) and schema for schema in (*node.inputs, *node.outputs)):
        yield "a schema is no name"
        return
    if node.children and node.kind not in ("sequence", "tensor"):
        yield f"a {node.kind} has no parts"
    if node.operation and node.kind != "primitive":
        yield f"a {node.kind} names no operation"
    if node.permutation and node.kind != "permute":
        yield f"a {node.kind} has no permutation"
    match node.kind:
        case "primitive":
            yield from _of_primitive(node, operations)
        case "sequence":
            yield from _of_sequence(node)
        case "permute" if not is_permutation(node.permutation, len(node.inputs)):
            yield f"{list(node.permutation)} is no permutation of {len(node.inputs)} wires"
        case _:
            wanted = _boundary(node)
            if (node.inputs, node.outputs) != wanted:
                yield (
                    f"a {node.kind} from {port_text(node.inputs)} to {port_text(node.outputs)} "
                    f"should be from {port_text(wanted[0])} to {port_text(wanted[1])}"
                )


def _of_primitive(node: Plan, operations: Mapping[str, Signature] | None) -> Iterator[str]:
    if not isinstance(node.operation, str) or not node.operation:
        yield "a primitive without an operation"
    elif operations is not None and node.operation not in operations:
        yield str(unknown_name("operation", node.operation, operations))
    elif operations is not None:
        known = operations[node.operation]
        if (node.inputs, node.outputs) != (known.inputs, known.outputs):
            yield (
                f"the signature of {node.operation} drifted: planned {port_text(node.inputs)} -> "
                f"{port_text(node.outputs)}, registered {port_text(known.inputs)} -> {port_text(known.outputs)}"
            )


def _of_sequence(node: Plan) -> Iterator[str]:
    ports = [node.inputs, *(each.inputs for each in node.children[1:]), node.outputs]
    given = [each.outputs for each in node.children]
    if not node.children:
        if node.inputs or node.outputs:
            yield "a sequence without parts has no wires"
        return
    if node.children[0].inputs != node.inputs:
        yield f"takes {port_text(node.inputs)}, its first part takes {port_text(node.children[0].inputs)}"
    for ix, (gives, takes) in enumerate(zip(given, ports[1:], strict=True)):
        if gives != takes:
            who = f"part {ix + 1} takes" if ix + 1 < len(given) else "it gives"
            yield f"part {ix} gives {port_text(gives)}, {who} {port_text(takes)}"


def _boundary(node: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the boundary that a node's parts and inputs determine."""
    match node.kind:
        case "tensor":
            inputs = tuple(schema for each in node.children for schema in each.inputs)
            return inputs, tuple(schema for each in node.children for schema in each.outputs)
        case "copy":
            return node.inputs, node.inputs * 2
        case "drop":
            return node.inputs, ()
        case "permute":
            return node.inputs, tuple(node.inputs[ix] for ix in node.permutation)
    return node.inputs, node.inputs
