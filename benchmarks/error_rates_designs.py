"""Studies of further designs: two sides, many candidates, gaps, repeats, resources, looks, and what gates find."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

import opfield as of
from benchmarks.error_rates_shapes import (
    ALL_OR_NOTHING,
    GRADED,
    NORMAL,
    RARE_GAINS,
    RARE_LOSSES,
    SKEWED_GAINS,
    SKEWED_LOSSES,
    WIDE,
    Shape,
    paired,
    tried,
)
from benchmarks.error_rates_stage import Arms, Drawn, Floats
from benchmarks.error_rates_studies import (
    CASES_BY_SKEWNESS,
    NOMINAL,
    T_BOUND,
    Rate,
    Study,
    power,
    ranged,
    rate,
    t_bound,
)

BOUNDED: dict[str, Any] = {"method": "bounded"}


def design_studies() -> Iterator[Study]:
    """Yield all studies of this module."""
    yield from (two_sided(cases) for cases in (20, 50, 200))
    yield from (enough(shape) for shape in (GRADED, SKEWED_LOSSES, RARE_LOSSES))
    yield from (points(cases) for cases in (20, 200))
    yield from (family(cases) for cases in (20, 50))
    yield permuted_family(50)
    yield missing(100)
    yield from (reliability(cases) for cases in (20, 50, 200))
    yield from (resources(cases) for cases in (20, 50, 200))
    yield from (percentile(cases) for cases in (50, 200))
    yield from (these_cases(cases, repeats) for repeats in (3, 10) for cases in (10, 50))
    yield sequential(200)
    yield from (powers(cases) for cases in (50, 100, 200))


def two_sided(cases: int) -> Study:
    """Return equivalence at its margin, and harm where nothing changes."""
    rates = []
    shapes = (NORMAL, SKEWED_GAINS, SKEWED_LOSSES, RARE_LOSSES, RARE_GAINS)
    for shape in shapes:
        for method, options in (("t", {}), ("bounded", BOUNDED)):
            is_bounded = method == "bounded"
            gate = of.equivalence(f"{shape.name} margin", shape.margin, **options)
            bound = NOMINAL if is_bounded else t_bound(shape.skewness, cases)
            rates.append(rate(gate, "equivalence with a loss of the margin", shape.name, method, bound))
            bound = NOMINAL if is_bounded else t_bound(-shape.skewness, cases)
            gate = of.harm(f"{shape.name} 0", **options)
            rates.append(rate(gate, "harm where there is none: fails", shape.name, method, bound, "fail"))

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        values = {}
        for shape in shapes:
            values[f"{shape.name} 0"] = paired(rng, shape.deltas(rng, (draws, cases)), 0.0)
            values[f"{shape.name} margin"] = paired(rng, shape.deltas(rng, (draws, cases)), -shape.margin)
        return Drawn(values)

    metrics = tuple(ranged(f"{shape.name} {at}", 1) for shape in shapes for at in ("0", "margin"))
    return Study(f"two sides of {cases} cases", metrics, tuple(rates), draw, cases)


def enough(shape: Shape) -> Study:
    """Return superiority by t with just the cases from which on it is held to its bound."""
    cases = math.ceil(CASES_BY_SKEWNESS * shape.skewness**2)
    rates = (rate(of.superiority("x"), "superiority, cases enough for the skewness", shape.name, "t", T_BOUND),)

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn({"x": paired(rng, shape.deltas(rng, (draws, cases)), 0.0)})

    return Study(f"enough cases of {shape.name}", (ranged("x", 1),), rates, draw, cases)


def points(cases: int) -> Study:
    """Return the point gates with the truth exactly on their line."""
    table = "point gates, the truth on the line"
    rates = (
        rate(of.mean_delta("x", 0.0), table, "normal", "mean_delta"),
        rate(of.candidate_mean("x", at_least=0.5), table, "normal", "candidate_mean"),
    )

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn({"x": paired(rng, NORMAL.deltas(rng, (draws, cases)), 0.0)})

    return Study(f"points of {cases} cases", (ranged("x", 1),), rates, draw, cases)


def _sharing(cases: int, candidates: int) -> Any:
    """Return a draw of candidates that all equal the baseline, and share its noise."""

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        baseline = 0.5 + NORMAL.deltas(rng, (draws, cases, 1)) * 0.7
        return Drawn({"x": Arms(baseline, 0.5 + NORMAL.deltas(rng, (draws, candidates, cases, 1)) * 0.7)})

    return draw


def family(cases: int, candidates: int = 20) -> Study:
    """Return the best of many candidates that are all like the baseline."""
    table = f"family of {candidates} candidates, none better: any passes"
    rates = (
        rate(of.superiority("x"), table, "normal", "superiority for each, no correction"),
        rate(of.family("x"), table, "normal", "family, holm", NOMINAL),
        rate(of.family("x", method="bounded"), table, "normal", "family, bounded", NOMINAL),
    )
    draw = _sharing(cases, candidates)
    return Study(f"family of {cases} cases", (ranged("x", 1),), rates, draw, cases, candidates=candidates)


def permuted_family(cases: int, candidates: int = 20) -> Study:
    """Return the same by sign flips, which are computed outside of SQL and take their time."""
    table = f"family of {candidates} candidates, none better: any passes"
    rates = (rate(of.family("x", method="max_t"), table, "normal", "family, max_t", NOMINAL),)
    study = family(cases, candidates)
    return replace(study, name=f"permuted {study.name}", rates=rates)


def missing(cases: int) -> Study:
    """Return gaps that tell: 15 % of the candidate's cells fail, all where it does badly; the mean change is 0."""
    table = "missing, 15 % where the candidate does badly, no change: superiority"
    metrics = (
        of.Metric("range declared", lower=0, upper=1),
        of.Metric("failures worth the worst", lower=0, upper=1, on_domain_failure="worst"),
        of.Metric("no range"),
    )
    rates = tuple(rate(of.superiority(each.name), table, "informative", each.name, NOMINAL) for each in metrics)

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        hardness = rng.random((draws, cases))
        arms = paired(rng, NORMAL.deltas(rng, (draws, cases)) + 0.22 * (0.5 - hardness), 0.0)
        failed = np.zeros((draws, 2, cases, 1), dtype=np.bool_)
        failed[:, 1, :, 0] = (hardness > 0.75) & (rng.random((draws, cases)) < 0.6)
        return Drawn({each.name: arms for each in metrics}, failed)

    return Study(f"missing of {cases} cases", metrics, rates, draw, cases, complete_cases=("no range",))


def reliability(cases: int, repeats: int = 5, k: int = 3) -> Study:
    """Return pass^k exactly at the floor that is asked for."""
    shapes = {"40 % of the cases succeed at .7, the others always": (0.4, 0.7), "5 % never succeed": (0.05, 0.0)}
    rates, metrics = [], []
    for ix, (shape, (share, chance)) in enumerate(shapes.items()):
        floor = 1 - share + share * chance**k
        metrics.append(of.Metric(f"m{ix}", kind="binary"))
        for method, bound, options in (("t", None, {}), ("bounded", NOMINAL, BOUNDED)):
            gate = of.reliability(f"m{ix}", floor, k, **options)
            rates.append(rate(gate, f"reliability, pass^{k} of {repeats} tries at its floor", shape, method, bound))

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        values = {}
        for ix, (share, chance) in enumerate(shapes.values()):
            chances = np.where(rng.random((draws, cases)) < share, chance, 1.0)
            values[f"m{ix}"] = Arms(np.ones((draws, cases, repeats)), tried(rng, chances, repeats)[:, None])
        return Drawn(values)

    return Study(f"reliability of {cases} cases", tuple(metrics), tuple(rates), draw, cases, repeats)


def _seconds(rng: np.random.Generator, of_case: Floats, deviation: float) -> Floats:
    """Return log-normal times with the means given."""
    return of_case * np.exp(rng.normal(-(deviation**2) / 2, deviation, of_case.shape))


def resources(cases: int) -> Study:
    """Return the ratio of two mean times exactly at its line, with like noise and with slow outliers."""
    line, table = 0.8, "resource_ratio at its line"
    rates = [
        rate(of.resource_ratio("duration_s", line), table, "both arms alike, log-normal", "t", T_BOUND),
        rate(of.resource_ratio("cost_usd", line), table, "candidate with slow outliers", "t"),
    ]

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        of_case = np.exp(rng.normal(0, 0.5, (draws, cases, 1)))
        usual = Arms(_seconds(rng, of_case, 0.3), _seconds(rng, line * of_case, 0.3)[:, None])
        outlying = Arms(_seconds(rng, of_case, 0.3), _seconds(rng, line * of_case, 1.0)[:, None])
        return Drawn({"x": usual}, used={"duration_s": usual, "cost_usd": outlying})

    return Study(f"resources of {cases} cases", (of.Metric("x"),), tuple(rates), draw, cases)


def percentile(cases: int) -> Study:
    """Return the .95 quantile of log-normal times exactly at its bound, by a bootstrap outside of SQL."""
    bound = float(np.exp(0.5 * stats.norm.ppf(0.95)))
    gate = of.gate("percentile", of="duration_s", q=0.95, at_most=bound)
    rates = (rate(gate, "percentile, the .95 quantile at its bound", "log-normal, sd of log .5", "bootstrap"),)

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        seconds = np.exp(rng.normal(0, 0.5, (2, draws, cases, 1)))
        arms = Arms(seconds[0], seconds[1][:, None])
        return Drawn({"x": arms}, used={"duration_s": arms})

    return Study(f"percentile of {cases} cases", (of.Metric("x"),), rates, draw, cases)


def these_cases(cases: int, repeats: int) -> Study:
    """Return superiority where the suite is all there is: its changes average exactly 0, repeats are noisy."""
    table = f"superiority, infers to these cases, {repeats} tries"
    rates = (
        rate(of.superiority("even"), table, "uniform noise", "repeats", T_BOUND),
        rate(
            of.superiority("uneven"),
            table,
            "noise of sd .23 on a fifth of the cases, .02 elsewhere",
            "repeats",
            T_BOUND,
        ),
        rate(of.superiority("rare"), table, "tries that lose .9 with a chance of .02", "repeats"),
    )

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        effects = rng.normal(0, 0.2, (draws, cases))
        effects -= effects.mean(axis=1, keepdims=True)
        size = (draws, cases, repeats)
        widths = np.where(np.arange(cases) % 5 == 0, 0.4, 0.04)[None, :, None]
        even, uneven = rng.uniform(-0.3, 0.3, (2, *size)), widths * rng.uniform(-1, 1, (2, *size))
        rare = 0.01 * rng.uniform(-1, 1, (2, *size))
        rare[1] += np.where(rng.random(size) < 0.02, -0.9, 0.0) + 0.018
        noises = {"even": even, "uneven": uneven, "rare": rare}
        return Drawn({name: Arms(own[0], (effects[:, :, None] + own[1])[:, None]) for name, own in noises.items()})

    metrics = tuple(of.Metric(name) for name in ("even", "uneven", "rare"))
    name = f"these {cases} cases, {repeats} tries"
    return Study(name, metrics, rates, draw, cases, repeats, infers_to="these_cases")


def sequential(cases: int) -> Study:
    """Return looks at prefixes where nothing changes; the e-process looks after every case."""
    table = "sequential, no change"
    rates: list[Rate] = []
    shapes = (NORMAL, GRADED, SKEWED_LOSSES, RARE_LOSSES, ALL_OR_NOTHING)
    for shape in shapes:
        for method, bound, gate in _looking(shape.name, cases):
            is_held = bound is not None or t_bound(shape.skewness, cases // 4) is not None
            rates.append(rate(gate, table, shape.name, method, (bound or T_BOUND) if is_held else None))

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn({shape.name: paired(rng, shape.deltas(rng, (draws, cases)), 0.0) for shape in shapes})

    return Study(f"sequential of {cases} cases", tuple(ranged(s.name, 1) for s in shapes), tuple(rates), draw, cases)


def _looking(metric: str, cases: int) -> Iterator[tuple[str, float | None, of.Gate]]:
    """Yield ways to look at a metric: in words, what is promised whatever the distribution, and the gate."""
    looks = [cases * quarter // 4 for quarter in (1, 2, 3, 4)]
    yield "4 looks, obrien_fleming", None, of.sequential(metric, looks=looks)
    yield "4 looks, even", None, of.sequential(metric, looks=looks, spending="even")
    yield "4 looks, bounded", NOMINAL, of.sequential(metric, looks=looks, method="bounded")
    yield "e_process, each case", NOMINAL, of.sequential(metric, spending="e_process")


def powers(cases: int) -> Study:
    """Return how often an effect of .10 is found where changes have a deviation of .3."""
    table = "power for an effect of .10, sd .3"
    ways = [("superiority, t", of.superiority("x")), ("superiority, bounded", of.superiority("x", method="bounded"))]
    ways += [(f"sequential, {method}", gate) for method, _, gate in _looking("x", cases)]
    rates = tuple(power(gate, table, WIDE.name, method) for method, gate in ways)

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn({"x": paired(rng, WIDE.deltas(rng, (draws, cases)), 0.1)})

    return Study(f"power of {cases} cases", (ranged("x", 1),), rates, draw, cases)
