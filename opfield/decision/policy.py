"""Policies: what must hold before a candidate may be preferred, in a declared order (§14, §24).

A gate here is a value: which SQL file judges (`kind`), over which metric, against which line. The verdicts themselves are
computed in `sql/gates/` and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from opfield.core import canonical_json
from opfield.errors import DeclarationError, IdentityError, unknown_name


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
        """Fill in the name and refuse a line that nothing could be compared with.

        Raises:
            DeclarationError: where the threshold is not finite or the options have no JSON form.
        """
        if not self.name:
            object.__setattr__(self, "name", f"{self.kind}({self.metric})" if self.metric else self.kind)
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise DeclarationError(f"gate {self.name}: threshold {self.threshold} is not a finite number")
        try:
            canonical_json(dict(self.options))
        except IdentityError as error:
            raise DeclarationError(f"gate {self.name}: options cannot be kept: {error}") from None

    def as_json(self) -> dict[str, Any]:
        """Return the gate as the ledger keeps it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "metric": self.metric,
            "threshold": self.threshold,
            "options": dict(self.options),
        }


@dataclass(frozen=True, slots=True)
class Policy:
    """Ordered gates, then a preference among what passes.

    Attributes:
        gates: judged in order; the first that does not pass decides, and later ones cannot compensate.
        prefer: metric whose mean oriented delta ranks the passing candidates; None selects nothing.
        min_gain: least score above which a candidate is worth a change.
    """

    gates: tuple[Gate, ...]
    prefer: str | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a policy without gates or with two gates of one name.

        Raises:
            DeclarationError: saying which.
        """
        object.__setattr__(self, "gates", tuple(self.gates))
        if not self.gates:
            raise DeclarationError("a policy without gates would pass anything; start with coverage()")
        names = [gate.name for gate in self.gates]
        for name in names:
            if names.count(name) > 1:
                raise DeclarationError(f"two gates are called {name!r}; give one of them a name")
        if not math.isfinite(self.min_gain):
            raise DeclarationError(f"min_gain {self.min_gain} is not a finite number")

    def check(self, metrics: Iterable[str], kinds: Iterable[str]) -> None:
        """Refuse a policy that names an unknown metric or gate kind.

        Raises:
            UnknownNameError: listing the known ones.
        """
        known_metrics, known_kinds = set(metrics), set(kinds)
        for gate in self.gates:
            if gate.kind not in known_kinds:
                raise unknown_name("gate kind", gate.kind, known_kinds)
            if gate.metric is not None and gate.metric not in known_metrics:
                raise unknown_name(f"metric in gate {gate.name}:", gate.metric, known_metrics)
        if self.prefer is not None and self.prefer not in known_metrics:
            raise unknown_name("metric to prefer:", self.prefer, known_metrics)

    def as_json(self, sql_digest: str) -> dict[str, Any]:
        """Return the policy as its identity holds it, with the digest of the SQL that will judge."""
        return {
            "gates": [gate.as_json() for gate in self.gates],
            "preference": self.prefer,
            "min_gain": self.min_gain,
            "sql": sql_digest,
        }


def gate(
    kind: str, metric: str | None = None, threshold: float | None = None, *, name: str = "", **options: Any
) -> Gate:
    """Return a gate of any installed kind; `options` are handed to its SQL as JSON."""
    return Gate(kind, metric, threshold, options, name)


def coverage() -> Gate:
    """Return the gate that passes when every declared pair has both cells; it only counts, it judges no value."""
    return Gate("coverage")


def failures(
    at_most: int = 0,
    *,
    arms: Literal["candidate", "both"] = "candidate",
    infrastructure: Literal["indeterminate", "count"] = "indeterminate",
) -> Gate:
    """Return the gate over failed cells.

    Args:
        at_most: domain failures of the candidate that are tolerated.
        arms: with `both`, a failed baseline cell makes the verdict indeterminate.
        infrastructure: whether infrastructure failures and cancellations leave the verdict open, or count.
    """
    if at_most < 0:
        raise DeclarationError(f"failures(at_most={at_most}): a count is not negative")
    return Gate("failures", options={"max": at_most, "arms": arms, "infrastructure": infrastructure})


def mean_delta(metric: str, at_least: float = 0.0) -> Gate:
    """Return the point gate over the mean oriented change; it says nothing about error."""
    return Gate("mean_delta", metric, float(at_least))


def worst_delta(metric: str, at_least: float = 0.0) -> Gate:
    """Return the point gate over the worst oriented change of any pair; it says nothing about error."""
    return Gate("worst_delta", metric, float(at_least))


def candidate_mean(metric: str, *, at_least: float | None = None, at_most: float | None = None) -> Gate:
    """Return the point gate over the candidate's own mean, in the metric's unit.

    Raises:
        DeclarationError: where no bound is given.
    """
    bounds = {
        key: float(bound) for key, bound in (("at_least", at_least), ("at_most", at_most)) if bound is not None
    }
    if not bounds:
        raise DeclarationError(f"candidate_mean({metric!r}) needs at_least, at_most, or both")
    return Gate("candidate_mean", metric, options=bounds)
