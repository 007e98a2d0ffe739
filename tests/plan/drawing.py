"""Well-typed plans and malformed ones, drawn by Hypothesis without the constructors of the package."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from opfield.core.operation import OperationDescriptor, Port
from opfield.plan import Plan

SCHEMAS = ("a/v1", "b/v1", "c/v1", "语")
ports = st.lists(st.sampled_from(SCHEMAS), max_size=3).map(tuple)


def operation(inputs: Port, outputs: Port) -> OperationDescriptor:
    """Return the one operation of this signature."""
    name = f"op.{'+'.join(inputs)}-{'+'.join(outputs)}/v1"
    return OperationDescriptor(name, "op", "1", inputs, outputs)


def operations_of(plan: Plan) -> dict[str, OperationDescriptor]:
    """Return the operations that a plan names, under the signatures that it names them with."""
    own = {plan.operation: operation(plan.inputs, plan.outputs)} if plan.kind == "primitive" else {}
    return own | {name: each for child in plan.children for name, each in operations_of(child).items()}


@st.composite
def plans(draw: st.DrawFn, inputs: Port | None = None, depth: int = 8) -> Plan:
    """Draw a well-typed plan, nested, with units and with sequences and tensors of any number of parts."""
    port = draw(ports) if inputs is None else inputs
    kinds = ["primitive", "identity", "permute", "copy", "drop"]
    kind = draw(st.sampled_from([*kinds, *(["sequence", "tensor"] * 4 if depth > 1 else [])]))
    if kind == "sequence":
        parts: list[Plan] = []
        for _ in range(draw(st.integers(1, 4))):
            parts.append(draw(plans(parts[-1].outputs if parts else port, depth - 1)))
            if len(parts[-1].outputs) > 8:
                break
        return Plan("sequence", port, parts[-1].outputs, children=tuple(parts))
    if kind == "tensor":
        cuts = sorted(draw(st.lists(st.integers(0, len(port)), max_size=3)))
        bounds = list(zip([0, *cuts], [*cuts, len(port)], strict=True))
        parts = [draw(plans(port[start:end], depth - 1)) for start, end in bounds]
        return Plan("tensor", port, tuple(x for each in parts for x in each.outputs), children=tuple(parts))
    if kind == "permute":
        order = tuple(draw(st.permutations(range(len(port)))))
        return Plan("permute", port, tuple(port[ix] for ix in order), permutation=order)
    if kind == "primitive":
        outputs = draw(ports)
        return Plan("primitive", port, outputs, operation(port, outputs).id)
    outputs = {"identity": port, "copy": port * 2, "drop": ()}[kind]
    return Plan(kind, port, outputs)  # type: ignore[arg-type]  # one of three literals


def nodes(told: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the paths of all nodes of a plan's JSON."""
    below = [each for ix, child in enumerate(told.get("children", ())) for each in nodes(child, (*path, ix))]
    return [path, *below]
