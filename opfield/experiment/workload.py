"""Workloads: immutable identified cases, declared before the first trial (§21.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opfield.core import canonical_json, check_label, digest, envelope_digest
from opfield.errors import DeclarationError, IdentityError


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

    def __post_init__(self) -> None:
        """Refuse a case that the ledger could not name or group.

        Raises:
            DeclarationError: naming the case, the member and the remedy.
        """
        check_label("case id", self.id)
        if not isinstance(self.groups, Mapping):
            raise DeclarationError(
                f"case {self.id!r}: groups are a mapping such as {{'role': 'admin'}}, got {self.groups!r}"
            )
        for key, value in self.groups.items():
            check_label(f"case {self.id!r}: group", key)
            check_label(f"case {self.id!r}: value of group {key!r}", value)
        object.__setattr__(self, "groups", dict(self.groups))
        if self.cluster is not None:
            check_label(f"case {self.id!r}: cluster", self.cluster)
        if self.partition not in (None, "train", "selection", "final"):
            raise DeclarationError(f"case {self.id!r}: partition {self.partition!r} is none of train, selection, final")
        check_label(f"case {self.id!r}: schema", self.schema)

    def as_json(self) -> dict[str, Any]:
        """Return the case as the workload artifact lists it; `input` is its canonical JSON as text.

        Raises:
            DeclarationError: where the input has no canonical form.
        """
        try:
            canonical = canonical_json(self.input)
        except IdentityError as error:
            raise DeclarationError(f"case {self.id!r}: its input cannot be kept: {error}") from None
        return {
            "case_id": self.id,
            "case_digest": envelope_digest(self.schema, canonical),
            "groups": dict(self.groups),
            "cluster_id": self.cluster,
            "partition": self.partition,
            "input": canonical.decode(),
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
        object.__setattr__(self, "cases", cases_of(self.cases))
        check_label("workload name", self.name)
        if not self.cases:
            raise DeclarationError(f"workload {self.name!r} has no cases; a comparison needs at least one")
        seen: dict[str, int] = {}
        for position, case in enumerate(self.cases):
            if case.id in seen:
                raise DeclarationError(
                    f"case id {case.id!r} stands twice in workload {self.name!r}, at positions "
                    f"{seen[case.id]} and {position}; ids must be unique"
                )
            seen[case.id] = position

    def as_json(self) -> dict[str, Any]:
        """Return the workload artifact: {workload_id, cases}, in declared order.

        Raises:
            DeclarationError: where an input has no canonical form.
        """
        return {"workload_id": self.name, "cases": [case.as_json() for case in self.cases]}


def workload_digest(workload: Mapping[str, Any]) -> str:
    """Return the identity of a workload; the order of cases is no part of it (DESIGN §12).

    Args:
        workload: its artifact form, as `Workload.as_json` gives it; ids are unique.
    """
    members = ("case_id", "case_digest", "groups", "cluster_id", "partition")
    cases = sorted(
        ({member: case[member] for member in members} for case in workload["cases"]),
        key=lambda case: str(case["case_id"]),
    )
    identity = {"workload_id": workload["workload_id"], "cases": cases}
    return digest("opfield/workload/v1", canonical_json(identity))


def uneven_repeats_digest(workload: Mapping[str, Any]) -> str | None:
    """Return the identity of the repeats that cases declare for each arm; None where none does.

    Args:
        workload: its artifact form, whose cases may have a member `repeats`: candidate id to repeats.
    """
    uneven = {str(case["case_id"]): case["repeats"] for case in workload["cases"] if "repeats" in case}
    return digest("opfield/repeats/v1", canonical_json(uneven)) if uneven else None


def cases_of(inputs: Mapping[str, Any] | Iterable[Case]) -> tuple[Case, ...]:
    """Return cases from a mapping of id to input, or from cases as they are.

    Raises:
        DeclarationError: where they are neither.

    >>> [case.id for case in cases_of({"a": 1, "b": 2})]
    ['a', 'b']
    """
    if isinstance(inputs, Mapping):
        return tuple(Case(case_id, value) for case_id, value in inputs.items())
    if isinstance(inputs, str) or not isinstance(inputs, Iterable):
        raise _no_cases(inputs)
    cases = tuple(inputs)
    for case in cases:
        if not isinstance(case, Case):
            raise _no_cases(case)
    return cases


def _no_cases(found: object) -> DeclarationError:
    return DeclarationError(
        f"cases are a mapping of id to input, or a list of Case values, not a {type(found).__name__}"
    )
