"""Campaigns to infer from: every kind of metric, clusters, repeats, gaps, and gates of every statistical kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.sql.build import Campaign, Metric, Trial

METRICS = (
    Metric("m", 1, 0.0, 1.0),
    Metric("l", -1, 0.0, 8.0, on_domain_failure="worst"),
    Metric("open", 1),
    Metric("b", 1, 0.0, 1.0, on_domain_failure="worst", kind="binary"),
    Metric("e", -1, 0.0, 1.0, kind="binary"),
)
# No p-value of the drawn values comes near these rates and lines by chance of rounding.
ALPHAS = (0.0250719, 0.1007193, 0.3007131)
LINES = (0.0, 0.0130717, 0.0930717, 0.2130717)
FLOORS = (0.1130717, 0.3130717, 0.6130717, 0.9130717)
MARGINS = (0.0130717, 0.0930717, 0.3130717)


@dataclass(frozen=True)
class Inferring(Campaign):
    """A campaign whose policy says what it infers to."""

    infers_to: str = "cases_like_these"

    @property
    def identity(self) -> dict[str, Any]:
        """What the campaign's identity covers."""
        told = super().identity
        return {**told, "policy": {**told["policy"], "infers_to": self.infers_to}}


def drawn(
    chance: Random, name: str, sizes: Sequence[int] = (1, 2, 8, 20, 30, 40), gap_chance: float = 0.4
) -> Inferring:
    """Return a campaign of one of these numbers of cases; so many campaigns in all have gaps and failures."""
    size = chance.choice(sizes)
    cases = {f"w{ix:02}": {"half": chance.choice("ab")} for ix in range(size)}
    repeats = chance.choice([1, 1, 2, 3])
    candidates = [f"c{ix}" for ix in range(chance.choice([1, 2, 3]))]
    is_clustered = chance.random() < 0.4
    gaps = 0.08 if chance.random() < gap_chance else 0.0
    effects = {who: chance.choice([-0.5, -0.1, 0.0, 0.1, 0.5]) for who in candidates}
    noise = chance.choice([0.0, 0.05, 0.3])
    levels = {case: chance.random() * 0.5 for case in cases}
    trials = [
        drawn_trial(chance, who, case, repeat, levels[case] + effects.get(who, 0.0), noise, gaps)
        for who in ("base", *candidates)
        for case in cases
        for repeat in range(repeats)
    ]
    clusters = {case: f"k{chance.randrange(1 + size // 2)}" for case in cases if is_clustered and chance.random() < 0.8}
    infers_to = chance.choice(["cases_like_these", "these_cases"]) if repeats > 1 else "cases_like_these"
    return Inferring(
        cases=cases, metrics=METRICS, trials=trials, candidates=candidates, repeats=repeats, clusters=clusters,
        gates=drawn_gates(chance, repeats), preference="m", name=name, infers_to=infers_to,
    )  # fmt: skip


def drawn_trial(chance: Random, who: str, case: str, repeat: int, level: float, noise: float, gaps: float) -> Trial:
    """Return a trial about a level; with gaps it may fail, lack a metric, or have used nobody knows how much."""
    status = "success" if chance.random() >= gaps else chance.choice(["domain_failure", "infrastructure_failure"])
    center = level + chance.gauss(0, 1) * noise
    values: dict[str, float | None] = {
        "m": min(1.0, max(0.0, center)),
        "l": min(8.0, max(0.0, 4 - 4 * center)),
        "open": 100 * center,
        "b": float(chance.random() < level + 0.3),
        "e": float(chance.random() >= level + 0.3),
    }
    return Trial(
        who, case, repeat,
        {name: None if chance.random() < gaps else value for name, value in values.items()},
        status, None if status == "success" else "x",
        duration_s=None if chance.random() < gaps / 4 else 1.0 + level + chance.random(),
        input_tokens=chance.randrange(100, 200), output_tokens=chance.randrange(50),
    )  # fmt: skip


def drawn_gates(chance: Random, repeats: int) -> list[Mapping[str, Any]]:
    """Return a gate of each statistical kind, with lines, rates and methods as they fall."""

    def gate(kind: str, metric: str | None, threshold: float, **options: Any) -> dict[str, Any]:
        within = chance.choice([None, None, None, "half", {"half": "a"}])
        given = {"alpha": chance.choice(ALPHAS), **({"within": within} if within else {}), **options}
        return {"kind": kind, "name": f"{kind} {chance.random()}", "metric": metric, "threshold": threshold} | {
            "options": given
        }

    few = {"min_cases": chance.choice([2, 5])}
    metric = chance.choice(["m", "l", "open", "b", "e"])
    method = chance.choice(["by_kind", "bounded"])
    return [
        gate("superiority", metric, chance.choice(LINES), **few),
        gate("superiority", "m", chance.choice(LINES), method=method),
        gate("noninferiority", metric, chance.choice(MARGINS), **few),
        gate("noninferiority", "b", chance.choice(MARGINS), method=method),
        gate("equivalence", metric, chance.choice(MARGINS), **few),
        gate("harm", metric, chance.choice(LINES)),
        gate("binary_superiority", "b", chance.choice(LINES)),
        gate("binary_noninferiority", "e", chance.choice(MARGINS)),
        gate("family", metric, chance.choice((-0.0930717, *LINES)), method="holm", **few),
        gate("reliability", chance.choice("be"), chance.choice(FLOORS), k=chance.randint(1, repeats), **few),
        gate(
            "resource_ratio",
            None,
            chance.choice((0.9130717, 1.3130717)),
            of=chance.choice(["duration_s", "tokens"]),
            **few,
        ),
    ]
