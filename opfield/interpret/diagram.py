"""A plan as a Mermaid flowchart: a box for each operation, an arrow for each wire with its schema (§20.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opfield.core.operation import Effect, OperationDescriptor
from opfield.interpret.wiring import Wire, Wiring, wiring
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


def divergence_diagram(graph: Wiring, baseline: Sequence[str], candidate: Sequence[str]) -> str:
    """Return two runs of one plan as Mermaid text: what both derived alike stands once, what diverges twice (§D.9).

    Args:
        graph: the plan as a graph.
        baseline: derivation key of each step, in order.
        candidate: those of the other run.
    """
    lines = ["flowchart LR"]
    lines += [f'    in{ix}(["{_quoted(schema)}"])' for ix, schema in enumerate(graph.inputs)]
    shared = [one == other for one, other in zip(baseline, candidate, strict=True)]
    arms = [("base", "baseline"), ("cand", "candidate")]

    def node(arm: str, ix: int) -> str:
        return f"both{ix}" if shared[ix] else f"{arm}{ix}"

    for ix, step in enumerate(graph.steps):
        name = _quoted(step.operation.id)
        told = [("both", "")] if shared[ix] else [(arm, f"<br/>{word}") for arm, word in arms]
        lines += [f'    {arm}{ix}["{name}{word}"]' for arm, word in told]
    for ix, step in enumerate(graph.steps):
        for arm in ["base"] if shared[ix] else ["base", "cand"]:
            for wire in step.inputs:
                start = f"in{wire.index}" if wire.source is None else node(arm, wire.source)
                lines.append(f'    {start} -- "{_quoted(wire.schema)}" --> {node(arm, ix)}')
    return "\n".join(lines) + "\n"


def _end(wire: Wire) -> str:
    return f"in{wire.index}" if wire.source is None else f"op{wire.source}"


def _quoted(text: str) -> str:
    """Return text for a Mermaid label, in which entities stand for what would end or mark it up."""
    marked = "".join(each if each.isalnum() or each in " ._:+/-," else f"#{ord(each)};" for each in text)
    return marked or " "
