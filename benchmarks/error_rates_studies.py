"""What is simulated: each study draws campaigns of which the truth is known, and says how often its gates may err."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

import opfield as of
from benchmarks.error_rates_shapes import (
    ALL_OR_NOTHING,
    GRADED,
    NOISE,
    NORMAL,
    RARE_LOSSES,
    SKEWED_GAINS,
    SKEWED_LOSSES,
    Shape,
    discordant,
    paired,
    repeated_binary,
)
from benchmarks.error_rates_stage import Drawn

NOMINAL = 0.025
T_BOUND = 0.035
"""What Student's t is held to where there are cases enough for the skewness."""
CASES_BY_SKEWNESS = 71
"""Cases enough for Student's t, by the square of the skewness: see `t_bound`."""
TANGO_BOUND = 0.03
"""What Tango's score is held to where no exact test vetoes it."""

SHAPES = (NORMAL, SKEWED_GAINS, GRADED, SKEWED_LOSSES, RARE_LOSSES)

Event = Literal["pass", "fail"]
Draw = Callable[[np.random.Generator, int], Drawn]


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate that a study measures.

    Attributes:
        gate: the gate; its name is made of the other members.
        table: heading of the table that it stands in.
        shape: what is drawn.
        method: how the gate decides.
        bound: rate that it must not exceed but by chance; None where nothing is promised, or power is measured.
        event: what is counted.
        is_error: whether what is counted is an error, and not the power of a gate.
    """

    gate: of.Gate
    table: str
    shape: str
    method: str
    bound: float | None = None
    event: Event = "pass"
    is_error: bool = True


@dataclass(frozen=True, slots=True)
class Study:
    """Simulated campaigns under one policy.

    Attributes:
        name: name, for `--only`.
        metrics: what the campaigns measure.
        rates: what is measured of their gates.
        draw: draws a number of campaigns.
        cases: cases of each.
        repeats: tries of each case.
        candidates: candidates of each.
        infers_to: as in `Policy`.
        complete_cases: metrics of which the interval over complete cases is counted beside the gates.
    """

    name: str
    metrics: tuple[of.Metric, ...]
    rates: tuple[Rate, ...]
    draw: Draw
    cases: int
    repeats: int = 1
    candidates: int = 1
    infers_to: Literal["cases_like_these", "these_cases"] = "cases_like_these"
    complete_cases: tuple[str, ...] = ()

    @property
    def policy(self) -> of.Policy:
        """Return the policy of the gates that are measured."""
        return of.Policy(tuple({rate.gate.name: rate.gate for rate in self.rates}.values()), infers_to=self.infers_to)


def named(gate: of.Gate, *words: str) -> of.Gate:
    """Return the gate under a name of its own."""
    return of.Gate(gate.kind, gate.metric, gate.threshold, gate.options, ", ".join((gate.kind, *words)))


def rate(gate: of.Gate, table: str, shape: str, method: str, bound: float | None = None, event: Event = "pass") -> Rate:
    """Return a rate of errors whose gate is named after what is measured."""
    return Rate(named(gate, shape, method), table, shape, method, bound, event)


def power(gate: of.Gate, table: str, shape: str, method: str) -> Rate:
    """Return a power whose gate is named after what is measured."""
    return Rate(named(gate, shape, method), table, shape, method, is_error=False)


def t_bound(skewness: float, cases: int) -> float | None:
    """Return what Student's t is held to: nothing where the cases are too few for the skewness towards wrong passes.

    By its Edgeworth expansion (Hall 1992, section 2.6) the one-sided test errs in (2 z^2 + 1) phi(z) / 6 = .0846 times
    -skewness / sqrt(n) more than .025 of all campaigns, to the first order. That is .01 at n = 71 skewness^2.
    """
    return T_BOUND if cases >= CASES_BY_SKEWNESS * min(skewness, 0) ** 2 else None


def mean_studies() -> Iterator[Study]:
    """Yield the studies of superiority and noninferiority."""
    yield from (binary(cases) for cases in (10, 20, 50, 200))
    yield from (binary_repeats(cases) for cases in (10, 20, 50, 200))
    yield from (extremes(cases) for cases in (10, 20, 50, 200))
    yield from (means(cases, repeats) for repeats in (1, 10) for cases in (10, 20, 50, 200))


def ranged(name: str, repeats: int) -> of.Metric:
    """Return a metric with the range that `paired` keeps to."""
    room = 0.0 if repeats == 1 else NOISE
    return of.Metric(name, lower=-room, upper=1 + room)


def means(cases: int, repeats: int) -> Study:
    """Return superiority with no change and noninferiority with a loss of the margin, by each method and shape."""
    tries = "1 try" if repeats == 1 else f"{repeats} tries"
    return _means(f"means of {cases} cases, {tries}", SHAPES, cases, repeats)


def extremes(cases: int) -> Study:
    """Return the same for changes that are as far apart as a range allows, which tax bets the most."""
    return _means(f"extremes of {cases} cases", (ALL_OR_NOTHING,), cases, 1)


def _means(name: str, shapes: tuple[Shape, ...], cases: int, repeats: int) -> Study:
    rates: list[Rate] = []
    tries = "1 try" if repeats == 1 else f"{repeats} tries"
    for shape in shapes:
        allowed = t_bound(shape.skewness, cases)
        for method, bound, options in (
            ("t, min_cases=2", allowed, {"min_cases": 2}),
            ("t", allowed, {}),
            ("bounded", NOMINAL, {"method": "bounded"}),
        ):
            gate = of.superiority(f"{shape.name} 0", **options)
            rates.append(rate(gate, f"superiority, {tries}", shape.name, method, bound))
            gate = of.noninferiority(f"{shape.name} margin", shape.margin, **options)
            rates.append(rate(gate, f"noninferiority, {tries}", shape.name, method, bound))

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        values = {}
        for shape in shapes:
            values[f"{shape.name} 0"] = paired(rng, shape.deltas(rng, (draws, cases)), 0.0, repeats)
            values[f"{shape.name} margin"] = paired(rng, shape.deltas(rng, (draws, cases)), -shape.margin, repeats)
        return Drawn(values)

    metrics = tuple(ranged(f"{shape.name} {at}", repeats) for shape in shapes for at in ("0", "margin"))
    return Study(name, metrics, tuple(rates), draw, cases, repeats)


RARE = ("rare binary", 0.01, 0.05, 0.03)
"""Name, gains beside a loss of the margin, margin, and gains and losses where nothing changes."""
COMMON = ("common binary", 0.15, 0.1, 0.2)


def binary(cases: int) -> Study:
    """Return the gates of a binary metric tried once, and what Student's t does where it is declared continuous."""
    rates: list[Rate] = []
    metrics: list[of.Metric] = []
    for name, _, margin, _ in (RARE, COMMON):
        metrics += [
            *(of.Metric(f"{name} {at}", kind="binary") for at in ("0", "margin")),
            *(of.Metric(f"{name} {at} as continuous", lower=0, upper=1) for at in ("0", "margin")),
        ]
        gates = (
            ("binary_superiority", NOMINAL, of.binary_superiority(f"{name} 0")),
            ("Tango, by kind", NOMINAL, of.superiority(f"{name} 0")),
            ("bounded", NOMINAL, of.superiority(f"{name} 0", method="bounded")),
            ("t, declared continuous", None, of.superiority(f"{name} 0 as continuous", min_cases=2)),
        )
        rates += [rate(gate, "superiority, 1 try", name, method, bound) for method, bound, gate in gates]
        gates = (
            ("binary_noninferiority", TANGO_BOUND, of.binary_noninferiority(f"{name} margin", margin)),
            ("Tango, by kind", TANGO_BOUND, of.noninferiority(f"{name} margin", margin)),
            ("bounded", NOMINAL, of.noninferiority(f"{name} margin", margin, method="bounded")),
            ("t, declared continuous", None, of.noninferiority(f"{name} margin as continuous", margin, min_cases=2)),
        )
        rates += [rate(gate, "noninferiority, 1 try", name, method, bound) for method, bound, gate in gates]

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        values = {}
        for name, gains, margin, changes in (RARE, COMMON):
            for at, losses in (("0", None), ("margin", gains + margin)):
                shares = (changes, changes) if losses is None else (gains, losses)
                values[f"{name} {at}"] = discordant(rng, (draws, cases), *shares)
                values[f"{name} {at} as continuous"] = values[f"{name} {at}"]
        return Drawn(values)

    return Study(f"binary of {cases} cases", tuple(metrics), tuple(rates), draw, cases)


def binary_repeats(cases: int, repeats: int = 10) -> Study:
    """Return the gates of a binary metric over repeats, which average them inside the case."""
    tries, name, margin = f"{repeats} tries", "rare binary", 0.045
    rates = []
    for method, bound, options in (
        ("t, min_cases=2", None, {"min_cases": 2}),
        ("t", None, {}),
        ("bounded", NOMINAL, {"method": "bounded"}),
    ):
        rates += [
            rate(of.superiority("0", **options), f"superiority, {tries}", name, method, bound),
            rate(of.noninferiority("margin", margin, **options), f"noninferiority, {tries}", name, method, bound),
        ]

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn(
            {
                "0": repeated_binary(rng, (draws, cases), 0.03, 0.03, repeats),
                "margin": repeated_binary(rng, (draws, cases), 0.01, 0.01 + margin / 0.9, repeats),
            }
        )

    metrics = tuple(of.Metric(at, kind="binary") for at in ("0", "margin"))
    return Study(f"binary of {cases} cases, {tries}", metrics, tuple(rates), draw, cases, repeats)
