"""Metrics: named, directed quantities with a declared range, kind and worth of failure (§13.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from opfield.core.label import check_label
from opfield.core.number import is_number
from opfield.errors import DeclarationError

Kind = Literal["continuous", "binary", "count"]
Direction = Literal["maximize", "minimize"]

#: Largest magnitude of a value unless a metric declares its range; keeps sums in the views finite.
MAX_MAGNITUDE: Final = 1e100


@dataclass(frozen=True, slots=True)
class Metric:
    """Definition of a metric.

    Attributes:
        name: identity inside the campaign, such as `recall`.
        direction: whether more or less is better.
        unit: unit of the value, such as `s` or `words`; None where it has none.
        lower: lowest possible value; None where unbounded. Bounds let a gate decide under missing values.
        upper: highest possible value; None where unbounded.
        kind: continuous, binary (0 or 1) or count; the estimator follows it, never a guess from the data.
        on_domain_failure: what a failed cell is worth: `missing`, `worst` (needs the bound), or a number.
        evaluator: identity of what measures it, such as a judge and its version; None where the runner does.
        description: what it measures, in words.
    """

    name: str
    direction: Direction = "maximize"
    unit: str | None = None
    lower: float | None = None
    upper: float | None = None
    kind: Kind = "continuous"
    on_domain_failure: Literal["missing", "worst"] | float = "missing"
    evaluator: str | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        """Refuse a definition that no view could read.

        Raises:
            DeclarationError: naming the metric and the member.
        """
        if not isinstance(self.name, str) or not self.name.strip() or len(self.name) > 200:
            raise DeclarationError(f"a metric's name is text of 1 to 200 characters, got {self.name!r}")
        check_label("metric name", self.name)
        if self.direction not in get_args(Direction):
            raise self._refused(f"direction {self.direction!r} is neither maximize nor minimize")
        if self.kind not in get_args(Kind):
            raise self._refused(f"kind {self.kind!r} is none of continuous, binary, count")
        for member in ("unit", "evaluator", "description"):
            text = getattr(self, member)
            if text is not None:
                check_label(f"metric {self.name!r}: {member}", text, limit=10_000)
        self._check_bounds()
        self._check_failure_worth()

    def _check_bounds(self) -> None:
        """Fill in the bounds that the kind implies, and refuse bounds that contradict it or each other."""
        if self.kind == "binary":
            object.__setattr__(self, "lower", 0.0 if self.lower is None else self.lower)
            object.__setattr__(self, "upper", 1.0 if self.upper is None else self.upper)
        if self.kind == "count" and self.lower is None:
            object.__setattr__(self, "lower", 0.0)
        for member, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound is None:
                continue
            if not is_number(bound):
                raise self._refused(f"{member} {bound!r} is not a number")
            if not abs(bound) <= MAX_MAGNITUDE:
                raise self._refused(f"{member} is not finite within ±{MAX_MAGNITUDE:g}; use None for no bound")
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise self._refused(f"lower {self.lower} is not below upper {self.upper}")
        if self.kind == "binary" and (self.lower, self.upper) != (0, 1):
            raise self._refused(f"a binary metric lies in 0 … 1, not in {self.lower} … {self.upper}")
        if self.kind == "count" and self.lower is not None and self.lower < 0:
            raise self._refused(f"a count is never below 0, but lower is {self.lower}")

    def _check_failure_worth(self) -> None:
        worth = self.on_domain_failure
        if worth == "missing":
            return
        if worth == "worst":
            member = "lower" if self.direction == "maximize" else "upper"
            if getattr(self, member) is None:
                raise self._refused(f"on_domain_failure is 'worst', but no {member} is declared")
            return
        if not is_number(worth):
            raise self._refused(f"on_domain_failure {worth!r} is neither 'missing', 'worst' nor a number in its range")
        refusal = self.refusal(worth)
        if refusal is not None:
            raise self._refused(f"on_domain_failure cannot stand in for a value: {refusal}")

    def _refused(self, why: str) -> DeclarationError:
        return DeclarationError(f"metric {self.name!r}: {why}")

    def refusal(self, value: float) -> str | None:
        """Return why a number cannot be a value of this metric, or None where it can.

        Args:
            value: a float or an int of any size, in the metric's unit.

        >>> Metric("recall", lower=0, upper=1).refusal(1.5)
        "metric 'recall' is 1.5, above its declared upper bound 1"
        """
        # Magnitude first: an int too large for a double can be compared, but neither converted nor printed.
        if abs(value) > MAX_MAGNITUDE and value not in (math.inf, -math.inf):
            shown = f"{value:g}" if isinstance(value, float) else f"an integer of {int(value).bit_length()} bits"
            return f"metric {self.name!r} is {shown}, beyond the largest magnitude {MAX_MAGNITUDE:g}"
        if not math.isfinite(value):
            return f"metric {self.name!r} is {value}, which is not finite"
        if self.lower is not None and value < self.lower:
            return f"metric {self.name!r} is {value}, below its declared lower bound {self.lower}"
        if self.upper is not None and value > self.upper:
            return f"metric {self.name!r} is {value}, above its declared upper bound {self.upper}"
        if self.kind == "binary" and value not in (0, 1):
            return f"metric {self.name!r} is {value}, but a binary metric is 0 or 1"
        if self.kind == "count" and value != int(value):
            return f"metric {self.name!r} is {value}, but a count is a whole number"
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the definition as the ledger keeps it: `direction` +1 or −1, a failure's worth as text."""
        worth = self.on_domain_failure
        return {
            "metric": self.name,
            "direction": 1 if self.direction == "maximize" else -1,
            "unit": self.unit,
            "lower": self.lower,
            "upper": self.upper,
            "kind": self.kind,
            "on_domain_failure": worth if isinstance(worth, str) else repr(float(worth)),
            "evaluator": self.evaluator,
            "description": self.description,
        }
