"""Workloads: immutable identified cases, declared before the first trial (§21.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opfield.core import canonical_json, digest, seal
from opfield.errors import DeclarationError, IdentityError
from opfield.experiment.space import check_label


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a workload.

    Attributes:
        id: stable name, never a position; text of 1 to 1,024 bytes.
        input: JSON value that the runner receives.
        groups: strata, such as {"role": "admin"}.
        cluster: cluster that the case belongs to; None where it is its own unit of analysis.
        partition: train, selection or final; None where the workload is not partitioned.
        schema: schema of the input.
    """

    id: str
    input: Any = None
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    partition: str | None = None
    schema: str = "opfield.case/v1"

    def as_json(self) -> dict[str, Any]:
        """Return the case as the workload artifact lists it."""
        return {
            "case_id": self.id,
            "case_digest": seal(self.schema, self.input).digest,
            "groups": dict(self.groups),
            "cluster_id": self.cluster,
            "partition": self.partition,
            "input": canonical_json(self.input).decode(),
        }


@dataclass(frozen=True, slots=True)
class Workload:
    """Named cases in their declared order.

    Attributes:
        name: name of the workload.
        cases: at least one case, ids unique.
    """

    name: str
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        """Refuse a workload on which no exact comparison could stand.

        Raises:
            DeclarationError: naming the case and the remedy.
        """
        object.__setattr__(self, "cases", tuple(self.cases))
        check_label("workload", self.name)
        if not self.cases:
            raise DeclarationError(f"workload {self.name!r} has no cases; a comparison needs at least one")
        seen: dict[str, int] = {}
        for position, case in enumerate(self.cases):
            check_label("case", case.id)
            if case.id in seen:
                raise DeclarationError(
                    f"case id {case.id!r} stands twice in workload {self.name!r}, at positions "
                    f"{seen[case.id]} and {position}; ids must be unique"
                )
            seen[case.id] = position
            if case.partition not in (None, "train", "selection", "final"):
                raise DeclarationError(
                    f"case {case.id!r}: partition {case.partition!r} is none of train, selection, final"
                )
            for key, value in case.groups.items():
                if not isinstance(key, str) or not isinstance(value, str):
                    raise DeclarationError(f"case {case.id!r}: group {key!r}: {value!r} must be text on both sides")

    def as_json(self) -> dict[str, Any]:
        """Return the workload artifact: {workload_id, cases}, in declared order.

        Raises:
            DeclarationError: where an input has no canonical form.
        """
        listed = []
        for case in self.cases:
            try:
                listed.append(case.as_json())
            except IdentityError as error:
                raise DeclarationError(f"case {case.id!r}: its input cannot be kept: {error}") from None
        return {"workload_id": self.name, "cases": listed}


def workload_digest(workload: Mapping[str, Any]) -> str:
    """Return the identity of a workload from its artifact form; the order of cases is no part of it (DESIGN §12)."""
    cases = sorted(
        (
            {key: case[key] for key in ("case_id", "case_digest", "groups", "cluster_id", "partition")}
            for case in workload["cases"]
        ),
        key=lambda case: str(case["case_id"]),
    )
    return digest("opfield/workload/v1", canonical_json({"workload_id": workload["workload_id"], "cases": cases}))


def cases_of(inputs: Mapping[str, Any] | Iterable[Case]) -> tuple[Case, ...]:
    """Return cases from a mapping of id to input, or from cases as they are."""
    if isinstance(inputs, Mapping):
        return tuple(Case(case_id, value) for case_id, value in inputs.items())
    return tuple(inputs)
