"""What a campaign's trials say about a mean, by SciPy, exact enumeration and root finding."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from benchmarks.statistics import score_limit
from tests.sql.build import Campaign, Metric, Trial


@dataclass(frozen=True)
class Unit:
    """One case: what was found, between what ends its value lies (NaN: no end), and the deltas of its pairs."""

    cluster: str
    missing: int
    found: float | None
    low: float
    high: float
    pairs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Question:
    """What is asked about a mean: line, error rate, method, and the ends of a unit's range (NaN: no end)."""

    line: float
    alpha: float
    method: str
    lower: float
    upper: float
    min_cases: int = 2


@dataclass(frozen=True)
class Inference:
    """One-sided limits and p-values; None where the evidence gives none."""

    low: float | None = None
    high: float | None = None
    p_above: float | None = None
    p_below: float | None = None


def metric_of(campaign: Campaign, name: str) -> Metric:
    """Return the definition of a metric."""
    return next(metric for metric in campaign.metrics if metric.metric == name)


def trials_of(campaign: Campaign, who: str) -> dict[tuple[str, int], Trial]:
    """Return the trials of a candidate or the baseline by case and repeat."""
    return {(each.case_id, each.repeat): each for each in campaign.trials if each.candidate_id == who}


def observed(trial: Trial | None, metric: Metric) -> float | None:
    """Return what a trial is worth on a metric; None where that is unknown."""
    if trial is not None and trial.status == "success":
        return trial.values.get(metric.metric)
    if trial is None or trial.status != "domain_failure" or metric.on_domain_failure == "missing":
        return None
    return metric.lower if metric.direction > 0 else metric.upper


def delta_units(campaign: Campaign, candidate: str, name: str, cases: Collection[str]) -> list[Unit]:
    """Return the oriented deltas of a metric, a unit for each case."""
    metric = metric_of(campaign, name)
    lower, upper = (math.nan if end is None else end for end in (metric.lower, metric.upper))
    worst, best = (lower, upper) if metric.direction > 0 else (upper, lower)
    base, own = trials_of(campaign, campaign.baseline), trials_of(campaign, candidate)
    units = []
    for case in cases:
        pairs: list[float] = []
        lows: list[float] = []
        highs: list[float] = []
        for repeat in range(campaign.repeats):
            left, right = (observed(arm.get((case, repeat)), metric) for arm in (base, own))
            if left is not None and right is not None:
                pairs.append(metric.direction * (right - left))
            for ends, own_fill, base_fill in ((lows, worst, best), (highs, best, worst)):
                filled = (own_fill if right is None else right) - (base_fill if left is None else left)
                ends.append(metric.direction * filled)
        found = math.fsum(pairs) / len(pairs) if pairs else None
        units.append(
            Unit(_cluster(campaign, case), len(lows) - len(pairs), found, _mean(lows), _mean(highs), tuple(pairs))
        )
    return units


def pass_units(campaign: Campaign, candidate: str, name: str, k: int, cases: Collection[str]) -> list[Unit]:
    """Return the share of k-subsets of tries that succeed throughout, by enumeration, a unit for each case."""
    metric = metric_of(campaign, name)
    own = trials_of(campaign, candidate)

    def share(tries: Sequence[bool]) -> float | None:
        subsets = [all(subset) for subset in combinations(tries, k)]
        return sum(subsets) / len(subsets) if subsets else None

    units = []
    for case in cases:
        values = [observed(own.get((case, repeat)), metric) for repeat in range(campaign.repeats)]
        goal = 1.0 if metric.direction > 0 else 0.0
        found = share([value == goal for value in values if value is not None])
        low = share([value == goal for value in values])
        high = share([value is None or value == goal for value in values])
        assert low is not None
        assert high is not None
        units.append(Unit(_cluster(campaign, case), values.count(None), found, low, high))
    return units


def ratio_units(campaign: Campaign, candidate: str, resource: str, ratio: float, cases: Collection[str]) -> list[Unit]:
    """Return what a candidate spares of so many times the baseline's use, a unit for each case."""
    base, own = trials_of(campaign, campaign.baseline), trials_of(campaign, candidate)
    units = []
    for case in cases:
        spared = []
        for repeat in range(campaign.repeats):
            left, right = (used(arm.get((case, repeat)), resource) for arm in (base, own))
            if left is not None and right is not None:
                spared.append(ratio * left - right)
        missing = campaign.repeats - len(spared)
        end = math.nan if missing else _mean(spared)
        units.append(Unit(_cluster(campaign, case), missing, _mean(spared) if spared else None, end, end))
    return units


def used(trial: Trial | None, resource: str) -> float | None:
    """Return what a trial used of a resource; None where nobody saw it."""
    if trial is None:
        return None
    if resource == "tokens":
        parts = (trial.input_tokens, trial.output_tokens)
        return None if None in parts else float(sum(part for part in parts if part is not None))
    amount: float | None = getattr(trial, resource)
    return amount


def method_of(units: Sequence[Unit], infers_to: str, asked: str, is_binary: bool) -> str:
    """Return how the mean of these units is to be inferred."""
    if infers_to == "these_cases":
        return "repeats"
    if asked == "bounded":
        return "bounded"
    if is_binary and len({unit.cluster for unit in units}) == len(units):
        return "score"
    ends = [end for unit in units for end in (unit.low, unit.high)]
    return "constant" if not any(map(math.isnan, ends)) and max(ends) - min(ends) < 1e-12 else "t"


def infer(units: Sequence[Unit], asked: Question) -> Inference:
    """Return what the units say about their mean; what is missing is at its worst for each side."""
    clusters = len({unit.cluster for unit in units})
    if asked.method == "bounded" and clusters < len(units):
        return Inference()
    if asked.method == "t" and (clusters < asked.min_cases or not math.isfinite(_mean_low(units) + _mean_high(units))):
        return Inference()
    if asked.method == "repeats" and (any(unit.missing or len(unit.pairs) < 2 for unit in units)):
        return Inference()
    if (asked.method == "constant" or can_be_one_value(units, asked)) and not math.isfinite(asked.lower + asked.upper):
        return Inference()
    if math.isnan(_mean_low(units)) and math.isnan(_mean_high(units)):
        return Inference()
    above = _one_side(units, asked)
    below = _one_side(
        [
            Unit(unit.cluster, unit.missing, unit.found, -unit.high, -unit.low, tuple(-pair for pair in unit.pairs))
            for unit in units
        ],
        Question(-asked.line, asked.alpha, asked.method, -asked.upper, -asked.lower),
    )
    return Inference(above[0], None if below[0] is None else -below[0], above[1], below[1])


def can_be_one_value(units: Sequence[Unit], asked: Question) -> bool:
    """Return whether Student's t judges units with gaps of which a fill could make one value throughout."""
    if asked.method != "t" or not any(unit.missing for unit in units):
        return False
    return max(unit.low for unit in units) - min(unit.high for unit in units) < 1e-12


def standard_error(units: Sequence[Unit]) -> float:
    """Return the cluster-robust standard error of the mean; with gaps a bound of it over all fills."""
    mean_low, mean_high = _mean_low(units), _mean_high(units)
    names = sorted({unit.cluster for unit in units})
    squares = []
    for name in names:
        least = math.fsum(unit.low - mean_high for unit in units if unit.cluster == name)
        most = math.fsum(unit.high - mean_low for unit in units if unit.cluster == name)
        squares.append(max(least**2, most**2))
    return math.sqrt(len(names) / (len(names) - 1) * math.fsum(squares)) / len(units)


def noise(units: Sequence[Unit]) -> tuple[float, float]:
    """Return the standard error of the mean by the noise of repeats, and Satterthwaite's degrees of freedom."""
    variances = [float(np.var(unit.pairs, ddof=1)) / len(unit.pairs) for unit in units]
    if max(max(unit.pairs) - min(unit.pairs) for unit in units) == 0:
        return 0.0, math.nan
    total = math.fsum(variances)
    terms = [variance**2 / (len(unit.pairs) - 1) for variance, unit in zip(variances, units, strict=True)]
    return math.sqrt(total) / len(units), math.floor(total**2 / math.fsum(terms) + 1e-9)


def _one_side(units: Sequence[Unit], asked: Question) -> tuple[float | None, float | None]:
    """Return the lower limit, and the p-value of the mean being at most the line."""
    mean, line, alpha = _mean_low(units), asked.line, asked.alpha
    if math.isnan(mean):
        return None, None
    clusters = len({unit.cluster for unit in units})
    if asked.method == "t":
        error, df = standard_error(units), clusters - 1
        told = float(mean - stats.t.ppf(1 - alpha, df) * error), float(stats.t.sf((mean - line) / error, df))
        if can_be_one_value(units, asked):
            doubt = _one_value(max(unit.low for unit in units), clusters, asked)
            told = min(told[0], doubt[0]), max(told[1], doubt[1])
        return told
    if asked.method == "repeats":
        error, degrees = noise(units)
        if error == 0:
            return mean, 0.0 if mean > line else 1.0
        return (
            float(mean - stats.t.ppf(1 - alpha, degrees) * error),
            float(stats.t.sf((mean - line) / error, degrees)),
        )
    if asked.method == "score":
        gains = sum(unit.low > 0 for unit in units)
        losses = sum(unit.low < 0 for unit in units)
        veto = float(stats.binom.sf(gains - 1, gains + losses, 0.5)) if line >= 0 else 0.0
        limit = score_limit(gains, losses, len(units), float(stats.norm.ppf(1 - alpha)))
        return limit, max(_score_tail(gains, losses, len(units), line), veto)
    if asked.method == "constant":
        return _one_value(mean, clusters, asked)
    sample = [unit.low for unit in units]
    tail = 0.0 if line < asked.lower else min(1.0, math.exp(-_log_wealth(sample, asked.lower, line)))
    goal = -math.log(alpha)
    if mean - asked.lower < 1e-9 or _log_wealth(sample, asked.lower, asked.lower + 1e-9) < goal:
        return asked.lower, tail
    limit = brentq(lambda m: _log_wealth(sample, asked.lower, m) - goal, asked.lower + 1e-9, mean, xtol=1e-12)
    return float(limit), tail


def _one_value(value: float, clusters: int, asked: Question) -> tuple[float, float]:
    """Return the limit and tail of one value throughout: if s is the share below it, (1 - s)^clusters miss it."""
    limit = value - (value - asked.lower) * (1 - asked.alpha ** (1 / clusters))
    if value <= asked.line:
        return limit, 1.0
    return limit, 0.0 if asked.line < asked.lower else ((asked.line - asked.lower) / (value - asked.lower)) ** clusters


def _score_tail(gains: int, losses: int, n: int, line: float) -> float:
    """Return the tail of Tango's score, its loss rate by maximizing the likelihood numerically."""

    def cost(q: float) -> float:
        parts = ((gains, q + line), (losses, q), (n - gains - losses, 1 - line - 2 * q))
        if any(count and share <= 0 for count, share in parts):
            return 1e300
        return -math.fsum(count * math.log(share) for count, share in parts if count)

    low, high = max(0.0, -line), (1 - line) / 2
    found = minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-13, "maxiter": 500})
    q = min([low, high, float(found.x)], key=cost)
    variance = n * (2 * q + line * (1 - line))
    distance = gains - losses - n * line
    if variance < 1e-12:
        return 0.5 if distance == 0 else float(distance < 0)
    return float(stats.norm.sf(distance / math.sqrt(variance)))


def _log_wealth(sample: Sequence[float], lower: float, line: float) -> float:
    if line == lower:
        return math.inf if max(sample) > lower else 0.0
    stakes = np.geomspace(min(0.7, 3 / math.sqrt(len(sample))), 0.98, 8)
    shares = (np.asarray(sample) - line) / (line - lower)
    return float(np.logaddexp.reduce([np.log1p(stake * shares).sum() for stake in stakes]) - math.log(len(stakes)))


def _cluster(campaign: Campaign, case: str) -> str:
    return f"cluster {campaign.clusters[case]}" if case in campaign.clusters else f"case {case}"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _mean_low(units: Sequence[Unit]) -> float:
    return _mean([unit.low for unit in units])


def _mean_high(units: Sequence[Unit]) -> float:
    return _mean([unit.high for unit in units])
