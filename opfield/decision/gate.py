"""Gates as values: which SQL file judges, over which metric, against which line, on which cases (§24.1).

The verdicts themselves are computed in `sql/gates/` and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opfield.core import canonical_json, check_label, parse_json
from opfield.errors import DeclarationError, IdentityError

Within = Mapping[str, str] | str | None
"""Cases that a gate judges over: those whose groups have these values, each group of a key, or all where None."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate of a policy.

    Attributes:
        kind: gate kind, the name of its SQL file.
        metric: metric it judges; None where it judges none.
        threshold: the line, in the gate's own unit; None where it has none.
        options: further JSON members that the gate's SQL reads.
        name: label in results; made from kind and metric where not given.
    """

    kind: str
    metric: str | None = None
    threshold: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        """Fill in the name, copy the options, and refuse a line that nothing could be compared with.

        Raises:
            DeclarationError: where a member is no plain text, the threshold is not a finite number, or the
                options have no JSON form.
        """
        check_label("gate kind", self.kind)
        if self.metric is not None:
            check_label(f"gate {self.kind}: metric", self.metric)
        if not self.name:
            object.__setattr__(self, "name", self._described())
        check_label(f"gate {self.kind}: name", self.name)
        if self.threshold is not None:
            threshold = finite(f"gate {self.name}: threshold", self.threshold)
            object.__setattr__(self, "threshold", threshold)
        try:
            object.__setattr__(self, "options", parse_json(canonical_json(dict(self.options))))
        except (IdentityError, TypeError, ValueError) as error:
            raise DeclarationError(f"gate {self.name}: options cannot be kept: {error}") from None

    def _described(self) -> str:
        """Return kind, metric and scope: what tells a gate from its neighbours."""
        named = f"{self.kind}({self.metric})" if self.metric else self.kind
        within = self.options.get("within") if isinstance(self.options, Mapping) else None
        if isinstance(within, Mapping):
            return f"{named} in " + ", ".join(f"{key} {value}" for key, value in sorted(within.items()))
        return f"{named} in each {within}" if isinstance(within, str) else named

    def named(self, member: str) -> Any:
        """Return the gate's metric, threshold, or option of this name; None where it has none."""
        return {"metric": self.metric, "threshold": self.threshold}.get(member, self.options.get(member))

    def as_json(self) -> dict[str, Any]:
        """Return the gate as the ledger keeps it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "metric": self.metric,
            "threshold": self.threshold,
            "options": dict(self.options),
        }


def gate(
    kind: str, metric: str | None = None, threshold: float | None = None, *, name: str = "", **options: Any
) -> Gate:
    """Return a gate of any installed kind, a third party's too.

    Args:
        kind: name of its SQL file without `gate_`.
        metric: metric that it judges; None where it judges none.
        threshold: the line, in the gate's own unit; None where it has none.
        name: label in results; made from kind and metric where not given.
        **options: handed to its SQL as JSON.

    Raises:
        DeclarationError: as for `Gate`.

    >>> gate("mean_delta", "recall", 0.01, name="a real gain").as_json()["name"]
    'a real gain'
    """
    return Gate(kind, metric, threshold, options, name)


def finite(what: str, value: object) -> float:
    """Return a value as a finite number.

    Raises:
        DeclarationError: where it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DeclarationError(f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DeclarationError(f"{what} is {number}, not a finite number")
    return number


def within_option(what: str, within: Within) -> dict[str, Any]:
    """Return the option by which a gate is restricted to a scope of cases; none where `within` is None.

    Raises:
        DeclarationError: where it is neither a key nor a mapping of keys to values.
    """
    if within is None:
        return {}
    is_mapping = isinstance(within, Mapping) and len(within) > 0
    listed = [*within, *within.values()] if isinstance(within, Mapping) else [within]
    if not (is_mapping or isinstance(within, str)) or not all(isinstance(each, str) and each for each in listed):
        raise DeclarationError(
            f'{what}: within {within!r} is neither a group key such as "role" nor a group such as {{"role": "admin"}}'
        )
    return {"within": dict(within) if isinstance(within, Mapping) else within}
