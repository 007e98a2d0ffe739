"""A plan as a Mermaid flowchart: a box for each operation, an arrow for each wire with its schema (§20.6)."""

from __future__ import annotations

from collections.abc import Mapping

from opfield.core.operation import Effect, OperationDescriptor
from opfield.interpret.wiring import Wire, wiring
from opfield.plan import Plan


def diagram(plan: Plan, operations: Mapping[str, OperationDescriptor]) -> str:
    """Return the plan as Mermaid text; the same plan gives the same text.

    An operation that does more than compute names its effects. What is dropped has no arrow.

    Raises:
        PlanError: listing every fault of the plan.
    """
    graph = wiring(plan, operations)
    lines = ["flowchart LR"]
    lines += [f'    in{ix}(["{_quoted(schema)}"])' for ix, schema in enumerate(graph.inputs)]
    for ix, step in enumerate(graph.steps):
        beside = [str(each) for each in step.operation.effects if each is not Effect.CPU]
        told = _quoted(step.operation.id) + "".join(f"<br/>{effect}" for effect in beside)
        lines.append(f'    op{ix}["{told}"]')
    lines += [f'    out{ix}(["{_quoted(wire.schema)}"])' for ix, wire in enumerate(graph.outputs)]
    for ix, step in enumerate(graph.steps):
        lines += [f'    {_end(wire)} -- "{_quoted(wire.schema)}" --> op{ix}' for wire in step.inputs]
    lines += [f"    {_end(wire)} --> out{ix}" for ix, wire in enumerate(graph.outputs)]
    return "\n".join(lines) + "\n"


def _end(wire: Wire) -> str:
    return f"in{wire.index}" if wire.source is None else f"op{wire.source}"


def _quoted(text: str) -> str:
    """Return text for a Mermaid label, in which entities stand for what would end or mark it up."""
    marked = "".join(each if each.isalnum() or each in " ._:+/-," else f"#{ord(each)};" for each in text)
    return marked or " "
