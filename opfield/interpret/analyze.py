"""What a plan may do and needs, before anything runs: effects, dependencies, claims and resources (§7.3, §A.7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from opfield.core.operation import Effect, OperationDescriptor, Port
from opfield.errors import PlanError
from opfield.plan import Plan, fold


@dataclass(frozen=True, slots=True)
class Analysis:
    """A static summary; estimates are compared and preflighted with, never promised.

    Attributes:
        operations: ids of the operations, sorted, each once.
        effects: all that may happen, sorted.
        dependencies: labels of all that is read of a specification, sorted.
        is_deterministic: whether every operation claims it.
        is_cacheable: whether every operation claims it.
        work: total work, in the plugins' unit.
        critical_path: work that no concurrency shortens.
        memory_bytes: memory in use at once where everything side by side runs at once.
    """

    operations: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    dependencies: tuple[str, ...] = ()
    is_deterministic: bool = True
    is_cacheable: bool = True
    work: float | Fraction = 0
    critical_path: float | Fraction = 0
    memory_bytes: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the summary as a JSON value."""
        return {
            "operations": list(self.operations),
            "effects": [str(each) for each in self.effects],
            "dependencies": list(self.dependencies),
            "deterministic": self.is_deterministic,
            "cacheable": self.is_cacheable,
            "work": self.work,
            "critical_path": self.critical_path,
            "memory_bytes": self.memory_bytes,
        }


class _Analyzing:
    """The algebra: structure costs nothing, sets unite, claims hold where all parts make them.

    Amounts add up exactly, as fractions: the sum of floats would depend on how a plan is bracketed.
    """

    def identity(self, port: Port) -> Analysis:  # noqa: ARG002  the algebra's form
        return Analysis()

    def primitive(self, operation: OperationDescriptor) -> Analysis:
        return Analysis(
            (operation.id,),
            operation.effects,
            operation.dependencies,
            operation.is_deterministic,
            operation.is_cacheable,
            Fraction(operation.cost.work),
            Fraction(operation.cost.critical_path),
            operation.cost.memory_bytes,
        )

    def sequence(self, inputs: Port, outputs: Port, parts: Sequence[Analysis]) -> Analysis:  # noqa: ARG002  likewise
        return _united(
            parts,
            critical_path=sum(each.critical_path for each in parts),
            memory_bytes=max((each.memory_bytes for each in parts), default=0),
        )

    def tensor(self, inputs: Port, outputs: Port, parts: Sequence[Analysis]) -> Analysis:  # noqa: ARG002  likewise
        return _united(
            parts,
            critical_path=max((each.critical_path for each in parts), default=0),
            memory_bytes=sum(each.memory_bytes for each in parts),
        )

    def permute(self, inputs: Port, permutation: tuple[int, ...]) -> Analysis:  # noqa: ARG002  likewise
        return Analysis()

    def copy(self, port: Port) -> Analysis:  # noqa: ARG002  likewise
        return Analysis()

    def drop(self, port: Port) -> Analysis:  # noqa: ARG002  likewise
        return Analysis()


def analyze(plan: Plan, operations: Mapping[str, OperationDescriptor]) -> Analysis:
    """Return what a plan may do and needs.

    Args:
        plan: the plan.
        operations: registered descriptors by operation id.

    Raises:
        PlanError: listing every fault of the plan.
    """
    told = fold(plan, _Analyzing(), operations)
    return replace(told, work=float(told.work), critical_path=float(told.critical_path))


def check_effects(analysis: Analysis, allowed: Collection[Effect]) -> None:
    """Refuse a plan that may do more than is allowed, before anything runs.

    Raises:
        PlanError: naming the effects that are not.
    """
    refused = [str(each) for each in analysis.effects if each not in allowed]
    if refused:
        named = ", ".join(sorted(allowed)) or "nothing"
        raise PlanError(f"the plan may do what is not allowed: {', '.join(refused)}; allowed: {named}")


def _united(parts: Sequence[Analysis], critical_path: float | Fraction, memory_bytes: int) -> Analysis:
    return Analysis(
        tuple(sorted({name for each in parts for name in each.operations})),
        tuple(sorted({effect for each in parts for effect in each.effects})),
        tuple(sorted({label for each in parts for label in each.dependencies})),
        all(each.is_deterministic for each in parts),
        all(each.is_cacheable for each in parts),
        sum(each.work for each in parts),
        critical_path,
        memory_bytes,
    )
