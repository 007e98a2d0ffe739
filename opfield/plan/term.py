"""Plans: terms of the free wiring language over typed operations (§6.1, §A.2).

A plan is data without code: seven constructors, and nothing that a plugin adds to them. `>>` runs one plan after
another, `@` runs them side by side. Constructors give normal forms: sequences and tensors are flat, and units vanish,
each only after its boundary was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, Protocol, TypeAlias, get_args

from opfield.core.operation import Port
from opfield.errors import PlanError

Kind: TypeAlias = Literal["primitive", "identity", "sequence", "tensor", "permute", "copy", "drop"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: How deep a plan nests at most: its canonical JSON nests twice as deep, and that has a limit of 254.
MAX_DEPTH: Final = 120
#: How many nodes a plan has at most.
MAX_SIZE: Final = 200_000


class Signature(Protocol):
    """What a primitive plan takes from an operation's descriptor."""

    @property
    def id(self) -> str:
        """Identity of the operation."""
        ...

    @property
    def inputs(self) -> Port:
        """Schemas taken, in order."""
        ...

    @property
    def outputs(self) -> Port:
        """Schemas given, in order."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """One term. Built by the functions of this module, which check it; built directly, `faults` says what is wrong.

    Attributes:
        kind: which constructor.
        inputs: schemas of the wires that go in, in order.
        outputs: schemas of the wires that come out, in order.
        operation: identity of the operation of a primitive; empty for other kinds.
        children: parts of a sequence or tensor, in order.
        permutation: for each output wire of a permutation the index of the input wire that it is.
        size: number of nodes.
        depth: how deep it nests; 1 without children.
        is_normal: whether it is its own normal form, given that it has no faults.
    """

    kind: Kind
    inputs: Port
    outputs: Port
    operation: str = ""
    children: tuple[Plan, ...] = ()
    permutation: tuple[int, ...] = ()
    size: int = field(init=False, compare=False)
    depth: int = field(init=False, compare=False)
    is_normal: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Measure the term.

        Raises:
            PlanError: where it is larger or deeper than a plan may be, or made of what is none.
        """
        if not all(isinstance(each, tuple) for each in (self.inputs, self.outputs, self.children, self.permutation)):
            raise PlanError("the ports, the parts and the permutation of a plan are tuples")
        _check_plans("plan", self.children)
        size = 1 + sum(each.size for each in self.children)
        depth = 1 + max((each.depth for each in self.children), default=0)
        if size > MAX_SIZE or depth > MAX_DEPTH:
            raise PlanError(
                f"a plan of {size:,} nodes, {depth} deep, is beyond {MAX_SIZE:,} nodes and {MAX_DEPTH} levels; "
                "make a part of it an operation of its own"
            )
        is_flat = self.kind not in ("sequence", "tensor") or (
            len(self.children) > 1 and not any(_vanishes(self.kind, each) for each in self.children)
        )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "is_normal", is_flat and all(each.is_normal for each in self.children))

    def __rshift__(self, other: Plan) -> Plan:
        """Return the plan that runs this one, then the other."""
        return sequence(self, other) if isinstance(other, Plan) else NotImplemented

    def __matmul__(self, other: Plan) -> Plan:
        """Return the plan that runs both side by side, wires in order."""
        return tensor(self, other) if isinstance(other, Plan) else NotImplemented

    def __repr__(self) -> str:
        """Return the plan as a one-line term, which `parse_plan` reads back."""
        from opfield.plan.text import plan_text

        return plan_text(self)


def identity(port: Sequence[str] = ()) -> Plan:
    """Return the plan that leaves the wires of `port` alone."""
    wires = _port(port)
    return Plan("identity", wires, wires)


def primitive(signature: Signature) -> Plan:
    """Return the plan of one operation, under the signature that it has now; a later drift of it is refused."""
    return Plan("primitive", signature.inputs, signature.outputs, signature.id)


def sequence(*parts: Plan) -> Plan:
    """Return the plan that runs `parts` one after the other; the unit without any.

    Raises:
        PlanError: where a part is no plan, or the outputs of one are not the inputs of the next.
    """
    _check_plans("sequence", parts)
    for ix, (first, second) in enumerate(pairwise(parts)):
        if first.outputs != second.inputs:
            raise PlanError(
                f"part {ix + 1} of a sequence takes {port_text(second.inputs)}, the one before it gives "
                f"{port_text(first.outputs)}"
            )
    if not parts:
        return identity()
    flat = _flat("sequence", parts)
    if len(flat) < 2:
        return flat[0] if flat else identity(parts[0].inputs)
    return Plan("sequence", flat[0].inputs, flat[-1].outputs, children=flat)


def tensor(*parts: Plan) -> Plan:
    """Return the plan that runs `parts` side by side, their wires in order; the unit without any.

    Raises:
        PlanError: where a part is no plan.
    """
    _check_plans("tensor", parts)
    flat = _flat("tensor", parts)
    if len(flat) < 2:
        return flat[0] if flat else identity()
    return Plan("tensor", _wires(each.inputs for each in flat), _wires(each.outputs for each in flat), children=flat)


def permute(port: Sequence[str], permutation: Sequence[int]) -> Plan:
    """Return the plan that reorders wires: output wire i is input wire `permutation[i]`.

    Raises:
        PlanError: where `permutation` does not name every wire once.
    """
    order, wires = tuple(permutation), _port(port)
    if not is_permutation(order, len(wires)):
        count = len(wires)
        raise PlanError(f"{list(order)} is no permutation of {count} wires; name each of 0 … {count - 1} once")
    return Plan("permute", wires, tuple(wires[ix] for ix in order), permutation=order)


def copy(port: Sequence[str]) -> Plan:
    """Return the plan that gives the wires of `port` twice; what made them runs once."""
    wires = _port(port)
    return Plan("copy", wires, wires * 2)


def drop(port: Sequence[str]) -> Plan:
    """Return the plan that gives nothing of `port` on; what made it runs all the same."""
    return Plan("drop", _port(port), ())


def is_permutation(order: Sequence[object], wires: int) -> bool:
    """Return whether `order` names each of so many wires once."""
    are_whole = all(isinstance(ix, int) and not isinstance(ix, bool) for ix in order)
    return are_whole and len(order) == wires and set(order) == set(range(wires))


def is_unicode(text: str) -> bool:
    """Return whether a text has a canonical form; a lone surrogate has none."""
    return not any("\ud800" <= each <= "\udfff" for each in text)


def port_text(port: Port) -> str:
    """Return a port for a message."""
    return f"({', '.join(port)})"


def _port(port: Sequence[str]) -> Port:
    """Return a port; one text would be a wire for each of its letters."""
    if isinstance(port, str):
        raise PlanError(f"a port is a list of schemas, not one text; write [{port!r}]")
    return tuple(port)


def _check_plans(what: str, parts: Iterable[object]) -> None:
    for part in parts:
        if not isinstance(part, Plan):
            kind = type(part).__name__
            raise PlanError(f"a part of a {what} is of type {kind}, not a plan; that of an operation is its `.plan`")


def _flat(kind: Kind, parts: Sequence[Plan]) -> tuple[Plan, ...]:
    """Return the parts without the nesting and the units that make no difference."""
    flat: list[Plan] = []
    for part in parts:
        if not part.is_normal:
            raise PlanError(f"a part of a {kind} is in no normal form; `normalize` gives it")
        within = part.children if part.kind == kind else (part,)
        flat += (each for each in within if not _is_unit(kind, each))
    return tuple(flat)


def _is_unit(kind: Kind, part: Plan) -> bool:
    """Return whether `part` is a unit: any identity in a sequence, the one of no wire in a tensor."""
    return part.kind == "identity" and (kind == "sequence" or not part.inputs)


def _vanishes(kind: Kind, part: Plan) -> bool:
    return part.kind == kind or _is_unit(kind, part)


def _wires(ports: Iterable[Port]) -> Port:
    return tuple(schema for port in ports for schema in port)
