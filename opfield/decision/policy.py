"""Policies: what must hold before a candidate may be preferred, in a declared order (§14, §24)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opfield.core import check_label
from opfield.decision.gate import Gate, finite, within_option
from opfield.errors import DeclarationError, unknown_name


@dataclass(frozen=True, slots=True)
class Policy:
    """Ordered gates, then a preference among what passes.

    Attributes:
        gates: judged in order; the first that does not pass decides, and later ones cannot compensate.
        prefer: metric whose mean oriented delta ranks the passing candidates; None selects nothing.
        min_gain: least score above which a candidate is worth a change.
        infers_to: `cases_like_these`, of which the cases are a sample, or `these_cases`, where the suite is all there
            is and only the noise of repeats leaves doubt; a runner whose repeats are identical then has exact deltas.
    """

    gates: Sequence[Gate]
    prefer: str | None = None
    min_gain: float = 0.0
    infers_to: Literal["cases_like_these", "these_cases"] = "cases_like_these"

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
        if self.infers_to not in ("cases_like_these", "these_cases"):
            raise DeclarationError(f"infers_to {self.infers_to!r} is neither cases_like_these nor these_cases")
        object.__setattr__(self, "min_gain", finite("min_gain", self.min_gain))

    def check(
        self,
        metrics: Iterable[str],
        kinds: Iterable[str],
        needs: Mapping[str, Sequence[Sequence[str]]] | None = None,
        takes: Mapping[str, Collection[str] | None] | None = None,
    ) -> None:
        """Refuse a policy that names an unknown metric or gate kind, or lacks what a gate's kind cannot judge without.

        Args:
            metrics: metrics of the campaign.
            kinds: gate kinds that are installed.
            needs: by gate kind, what a gate must name: of each inner sequence, one of `metric`, `threshold` and the
                options at least, as `ViewSet.gate_needs` tells it; nothing is asked where None.
            takes: by gate kind, the options that it understands, as `ViewSet.gate_takes` tells it; any where None.

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
            understood = (takes or {}).get(gate.kind)
            for option in gate.options if understood is not None else ():
                if option not in (understood or ()):
                    raise unknown_name(f"option in gate {gate.name}:", option, understood or ())
        if self.prefer is not None and self.prefer not in known_metrics:
            raise unknown_name("metric to prefer:", self.prefer, known_metrics)

    def check_scopes(self, groups: Sequence[Mapping[str, str]]) -> None:
        """Refuse a policy with a gate over cases that the workload does not have, or that it cannot tell apart.

        Args:
            groups: the groups of each case of the workload, key to value.

        Raises:
            UnknownNameError: where no case has a key.
            DeclarationError: where no case belongs to a scope, cases lack the key that a gate groups by, or a gate
                looks at more cases than there are.
        """
        for gate in self.gates:
            looks = (gate.options.get("looks") if gate.kind == "sequential" else None) or [0]
            if not isinstance(looks, list) or not all(type(each) is int for each in looks):
                raise DeclarationError(f"gate {gate.name}: looks {looks!r} are not whole numbers of cases")
            last = max(looks)
            if last > len(groups):
                raise DeclarationError(
                    f"gate {gate.name}: it looks at {last} cases, but the workload has {len(groups)}"
                )
            within = gate.options.get("within")
            if within is None:
                continue
            what = f"gate {gate.name}: within"
            keys = [within] if isinstance(within, str) else list(within_option(what, within)["within"])
            for key in keys:
                if not any(key in each for each in groups):
                    raise unknown_name(
                        f"group key of gate {gate.name}:", key, {known for each in groups for known in each}
                    )
            if isinstance(within, str):
                lacking = sum(within not in each for each in groups)
                if lacking:
                    raise DeclarationError(
                        f"{what} {within!r}: {lacking} of {len(groups)} cases have no such group; give it to all, or "
                        f'name one group, as in within={{"{within}": …}}'
                    )
            elif not any(all(each.get(key) == value for key, value in within.items()) for each in groups):
                raise DeclarationError(
                    f"{what} {within!r}: no case belongs to it; known values: "
                    + "; ".join(f"{key} {sorted({each[key] for each in groups if key in each})}" for key in keys)
                )

    def as_json(self, sql_digest: str) -> dict[str, Any]:
        """Return the policy as its identity holds it, with the digest of the SQL that will judge."""
        return {
            "gates": [gate.as_json() for gate in self.gates],
            "preference": self.prefer,
            "min_gain": self.min_gain,
            "infers_to": self.infers_to,
            "sql": sql_digest,
        }
