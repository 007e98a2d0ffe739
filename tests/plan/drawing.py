"""Well-typed plans and malformed ones, drawn by Hypothesis without the constructors of the package.

Plans are up to `MOST` deep and wide: so many levels, parts of a sequence or tensor, and wires of an operation.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any, Final

from hypothesis import Phase, settings
from hypothesis import strategies as st

from opfield.core.operation import OperationDescriptor, Port
from opfield.plan import Plan

MOST: Final = 8
#: How many nodes a plan may have; few of them are much quicker, and find most of what many find.
_ROOMS: Final = (1, 3, 8, 20, 60)
SCHEMAS = ("a/v1", "b/v1", "c/v1", "语")
ports = st.one_of(
    st.lists(st.sampled_from(SCHEMAS), max_size=3), st.lists(st.sampled_from(SCHEMAS), max_size=MOST)
).map(tuple)

#: For what is to be among the drawn plans, and not to be made small.
found_once: Final = settings(max_examples=3_000, database=None, derandomize=True, phases=[Phase.generate])
some: Final = settings(max_examples=600 if os.environ.get("OPFIELD_TEST_WHOLE") == "1" else 30)


def operation(inputs: Port, outputs: Port) -> OperationDescriptor:
    """Return the one operation of this signature."""
    name = f"op.{'+'.join(inputs)}-{'+'.join(outputs)}/v1"
    return OperationDescriptor(name, "op", "1", inputs, outputs)


def operations_of(plan: Plan) -> dict[str, OperationDescriptor]:
    """Return the operations that a plan names, under the signatures that it names them with."""
    own = {plan.operation: operation(plan.inputs, plan.outputs)} if plan.kind == "primitive" else {}
    return own | {name: each for child in plan.children for name, each in operations_of(child).items()}


@st.composite
def plans(draw: st.DrawFn, inputs: Port | None = None, depth: int = MOST) -> Plan:
    """Draw a well-typed plan, nested, with units and with sequences and tensors of any number of parts."""
    port = draw(ports) if inputs is None else inputs
    return _drawn(draw, port, depth, [draw(st.sampled_from(_ROOMS))])


def _drawn(draw: st.DrawFn, port: Port, depth: int, room: list[int]) -> Plan:
    """Draw a plan from a port, in the room that is left for nodes."""
    room[0] -= 1
    is_nested = depth > 1 and room[0] > 0
    kinds = ["primitive", "identity", "permute", "drop", *(["copy"] if len(port) <= MOST // 2 else [])]
    kind = draw(st.sampled_from([*kinds, *(["sequence", "tensor"] * 4 if is_nested else [])]))
    if kind == "sequence":
        parts: list[Plan] = []
        for _ in range(draw(st.integers(1, MOST))):
            parts.append(_drawn(draw, parts[-1].outputs if parts else port, depth - 1, room))
            if len(parts[-1].outputs) > MOST:
                break
        return Plan("sequence", port, parts[-1].outputs, children=tuple(parts))
    if kind == "tensor":
        cuts = sorted(draw(st.lists(st.integers(0, len(port)), max_size=MOST - 1)))
        parts = [_drawn(draw, port[start:end], depth - 1, room) for start, end in pairwise([0, *cuts, len(port)])]
        return Plan("tensor", port, tuple(x for each in parts for x in each.outputs), children=tuple(parts))
    if kind == "permute":
        order = tuple(draw(st.permutations(range(len(port)))))
        return Plan("permute", port, tuple(port[ix] for ix in order), permutation=order)
    if kind == "primitive":
        outputs = draw(ports)
        return Plan("primitive", port, outputs, operation(port, outputs).id)
    outputs = {"identity": port, "copy": port * 2, "drop": ()}[kind]
    return Plan(kind, port, outputs)  # type: ignore[arg-type]  # one of three literals


def parts_of(plan: Plan) -> list[Plan]:
    """Return a plan with all that it is made of."""
    return [plan, *(each for child in plan.children for each in parts_of(child))]


def nodes(told: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the paths of all nodes of a plan's JSON."""
    below = [each for ix, child in enumerate(told.get("children", ())) for each in nodes(child, (*path, ix))]
    return [path, *below]
