"""Policies: what must hold before a candidate may be preferred, in a declared order (§14, §24).

A gate here is a value: which SQL file judges (`kind`), over which metric, against which line. The verdicts
themselves are computed in `sql/gates/` and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from opfield.core import canonical_json, check_label, parse_json
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
        """Fill in the name, copy the options, and refuse a line that nothing could be compared with.

        Raises:
            DeclarationError: where a member is no plain text, the threshold is not a finite number, or the
                options have no JSON form.
        """
        check_label("gate kind", self.kind)
        if self.metric is not None:
            check_label(f"gate {self.kind}: metric", self.metric)
        if not self.name:
            object.__setattr__(self, "name", f"{self.kind}({self.metric})" if self.metric else self.kind)
        check_label(f"gate {self.kind}: name", self.name)
        if self.threshold is not None:
            threshold = _finite(f"gate {self.name}: threshold", self.threshold)
            object.__setattr__(self, "threshold", threshold)
        try:
            object.__setattr__(self, "options", parse_json(canonical_json(dict(self.options))))
        except (IdentityError, TypeError, ValueError) as error:
            raise DeclarationError(f"gate {self.name}: options cannot be kept: {error}") from None

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


@dataclass(frozen=True, slots=True)
class Policy:
    """Ordered gates, then a preference among what passes.

    Attributes:
        gates: judged in order; the first that does not pass decides, and later ones cannot compensate.
        prefer: metric whose mean oriented delta ranks the passing candidates; None selects nothing.
        min_gain: least score above which a candidate is worth a change.
    """

    gates: Sequence[Gate]
    prefer: str | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a policy without gates or with two gates of one name.

        Raises:
            DeclarationError: saying which.
        """
        gates: object = self.gates
        listed = tuple(gates) if isinstance(gates, Iterable) else (gates,)
        if isinstance(gates, Gate) or not all(isinstance(each, Gate) for each in listed):
            raise DeclarationError(f"a policy's gates are a tuple such as (coverage(), failures()), got {gates!r}")
        object.__setattr__(self, "gates", listed)
        if not self.gates:
            raise DeclarationError("a policy without gates would pass anything; start with coverage()")
        names = [gate.name for gate in self.gates]
        for name in names:
            if names.count(name) > 1:
                raise DeclarationError(f"two gates are called {name!r}; give one another name, as gate(…, name=…) does")
        if self.prefer is not None:
            check_label("metric to prefer", self.prefer)
        object.__setattr__(self, "min_gain", _finite("min_gain", self.min_gain))

    def check(
        self,
        metrics: Iterable[str],
        kinds: Iterable[str],
        needs: Mapping[str, Sequence[Sequence[str]]] | None = None,
    ) -> None:
        """Refuse a policy that names an unknown metric or gate kind, or lacks what a gate's kind cannot judge without.

        Args:
            metrics: metrics of the campaign.
            kinds: gate kinds that are installed.
            needs: by gate kind, what a gate must name: of each inner sequence, one of `metric`, `threshold` and the
                options at least, as `ViewSet.gate_needs` tells it; nothing is asked where None.

        Raises:
            UnknownNameError: listing the known ones.
            DeclarationError: saying what a gate lacks.
        """
        known_metrics, known_kinds = set(metrics), set(kinds)
        for gate in self.gates:
            if gate.kind not in known_kinds:
                raise unknown_name("gate kind", gate.kind, known_kinds)
            if gate.metric is not None and gate.metric not in known_metrics:
                raise unknown_name(f"metric in gate {gate.name}:", gate.metric, known_metrics)
            for choice in (needs or {}).get(gate.kind, ()):
                if all(gate.named(each) is None for each in choice):
                    raise DeclarationError(
                        f"gate {gate.name}: kind {gate.kind} cannot judge without {' or '.join(choice)}; "
                        f"give it, as in gate({gate.kind!r}, {choice[0]}=…)"
                    )
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


def coverage() -> Gate:
    """Return the gate that passes when every declared pair has both cells; it judges no value."""
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

    Raises:
        DeclarationError: for a count that is no whole number of at least 0, or another word than these.
    """
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 0:
        raise DeclarationError(f"failures: at_most {at_most!r} is not a whole number of at least 0")
    if arms not in ("candidate", "both"):
        raise DeclarationError(f"failures: arms {arms!r} is neither candidate nor both")
    if infrastructure not in ("indeterminate", "count"):
        raise DeclarationError(f"failures: infrastructure {infrastructure!r} is neither indeterminate nor count")
    return Gate("failures", options={"max": at_most, "arms": arms, "infrastructure": infrastructure})


def mean_delta(metric: str, at_least: float = 0.0) -> Gate:
    """Return the point gate over the mean oriented change; it says nothing about error.

    Args:
        metric: metric that it judges.
        at_least: least mean change that passes, in the metric's unit, positive where the candidate is better.

    Raises:
        DeclarationError: where `at_least` is not a finite number.
    """
    return Gate("mean_delta", metric, _finite(f"mean_delta({metric!r}): at_least", at_least))


def worst_delta(metric: str, at_least: float = 0.0) -> Gate:
    """Return the point gate over the worst oriented change of any pair; it says nothing about error.

    Args:
        metric: metric that it judges.
        at_least: least change of the worst pair that passes, in the metric's unit, positive where the
            candidate is better.

    Raises:
        DeclarationError: where `at_least` is not a finite number.
    """
    return Gate("worst_delta", metric, _finite(f"worst_delta({metric!r}): at_least", at_least))


def candidate_mean(metric: str, *, at_least: float | None = None, at_most: float | None = None) -> Gate:
    """Return the point gate over the candidate's own mean, in the metric's unit.

    Args:
        metric: metric that it judges.
        at_least: least mean that passes; None for no such bound.
        at_most: largest mean that passes; None for no such bound.

    Raises:
        DeclarationError: where no bound is given, one is not a finite number, or nothing lies between them.
    """
    bounds = {
        member: _finite(f"candidate_mean({metric!r}): {member}", bound)
        for member, bound in (("at_least", at_least), ("at_most", at_most))
        if bound is not None
    }
    if not bounds:
        raise DeclarationError(f"candidate_mean({metric!r}) needs at_least, at_most, or both")
    if len(bounds) == 2 and bounds["at_least"] > bounds["at_most"]:
        raise DeclarationError(
            f"candidate_mean({metric!r}): no mean is at least {at_least} and at most {at_most}; swap them"
        )
    return Gate("candidate_mean", metric, options=bounds)


def _finite(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DeclarationError(f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DeclarationError(f"{what} is {number}, not a finite number")
    return number
