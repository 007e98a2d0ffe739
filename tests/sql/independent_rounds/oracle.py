"""What the views must say of campaigns with independent rounds, in plain Python, by the definition of a case's mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import t

from tests.sql.build import Campaign, Metric, Trial


@dataclass(frozen=True)
class Side:
    """One arm at one case: its usable values, and how many it declares."""

    values: tuple[float, ...]
    declared: int

    @property
    def is_full(self) -> bool:
        """Whether no declared value is missing."""
        return len(self.values) == self.declared

    def filled(self, end: float) -> float:
        """Return the mean with everything missing at an end of the range."""
        return fmean([*self.values, *[end] * (self.declared - len(self.values))])


@dataclass(frozen=True)
class Unit:
    """One case: the pair of both arms."""

    direction: int
    base: Side
    own: Side

    @property
    def delta(self) -> float | None:
        """Oriented delta of the means of what was found."""
        if not self.base.values or not self.own.values:
            return None
        return self.direction * (fmean(self.own.values) - fmean(self.base.values))

    @property
    def is_full(self) -> bool:
        """Whether neither arm lacks a value."""
        return self.base.is_full and self.own.is_full

    def bounds(self, metric: Metric) -> tuple[float, float]:
        """Return the delta with everything missing at its worst and at its best."""
        assert metric.lower is not None
        assert metric.upper is not None
        ends = (metric.lower, metric.upper)
        sides = [self.direction * (self.own.filled(own) - self.base.filled(base)) for own, base in (ends, ends[::-1])]
        return min(sides), max(sides)


def value_of(metric: Metric, trial: Trial) -> float | None:
    """Return the usable value of a cell."""
    if trial.status == "domain_failure" and metric.on_domain_failure == "worst":
        return metric.lower if metric.direction > 0 else metric.upper
    return trial.values.get(metric.metric) if trial.status == "success" else None


def units_of(campaign: Campaign, metric: Metric, candidate: str) -> list[Unit]:
    """Return the cases of a campaign, each as one pair."""

    def side(who: str, case: str) -> Side:
        declared = campaign.repeats_of(who, case)
        found = [
            value_of(metric, each)
            for each in campaign.trials
            if (each.candidate_id, each.case_id) == (who, case) and each.repeat < declared
        ]
        return Side(tuple(each for each in found if each is not None), declared)

    return [Unit(metric.direction, side(campaign.baseline, case), side(candidate, case)) for case in campaign.cases]


def compared(units: Sequence[Unit]) -> dict[str, float | None]:
    """Return what `comparisons` says of units that are each independent."""
    deltas = [each.delta for each in units if each.delta is not None]
    return {
        "pairs": len(deltas),
        "missing": sum(not each.is_full for each in units),
        "cases": len(deltas),
        "mean_delta": fmean(deltas) if deltas else None,
        "standard_error": stdev(deltas) / math.sqrt(len(deltas)) if len(deltas) > 1 else None,
    }


def bounded(units: Sequence[Unit], metric: Metric) -> dict[str, float]:
    """Return what `bounds` says of them."""
    ends = [each.bounds(metric) for each in units]
    return {
        "missing": sum(not each.is_full for each in units),
        "mean_delta_low": fmean(low for low, _ in ends),
        "mean_delta_high": fmean(high for _, high in ends),
        "min_delta_low": min(low for low, _ in ends),
        "min_delta_high": min(high for _, high in ends),
        "candidate_mean_low": fmean(each.own.filled(metric.lower or 0.0) for each in units),
        "candidate_mean_high": fmean(each.own.filled(metric.upper or 0.0) for each in units),
    }


def covered(campaign: Campaign, candidate: str) -> dict[str, int | bool]:
    """Return what `coverage` says of a candidate."""
    found = {(each.candidate_id, each.case_id, each.repeat) for each in campaign.trials}

    def lacks(who: str, case: str) -> bool:
        return any((who, case, repeat) not in found for repeat in range(campaign.repeats_of(who, case)))

    base = {case for case in campaign.cases if lacks(campaign.baseline, case)}
    own = {case for case in campaign.cases if lacks(candidate, case)}
    off = sum(
        each.repeat >= campaign.repeats_of(each.candidate_id, each.case_id)
        for each in campaign.trials
        if each.candidate_id in (campaign.baseline, candidate)
    )
    return {
        "expected_pairs": len(campaign.cases),
        "complete_pairs": len(campaign.cases) - len(base | own),
        "missing_baseline": len(base),
        "missing_candidate": len(own),
        "unexpected_cells": off,
        "duplicate_cells": 0,
        "not_planned": 0,
        "is_complete": not (base or own or off),
    }


def verdict(units: Sequence[Unit], metric: Metric, line: float, alpha: float) -> str:
    """Return how Student's t judges a mean delta against a line, each side under the fill that is worst for it.

    The spread is the greatest that any fill could have: each unit as far from the mean of the other end as it can be.
    """
    ends = [each.bounds(metric) for each in units]
    low, high = fmean(each for each, _ in ends), fmean(each for _, each in ends)
    squares = math.fsum(max((each - high) ** 2, (other - low) ** 2) for each, other in ends)
    error = math.sqrt(squares / (len(units) - 1) / len(units))
    if t.sf((low - line) / error, len(units) - 1) <= alpha:
        return "pass"
    return "fail" if t.cdf((high - line) / error, len(units) - 1) <= alpha else "indeterminate"


def decision(campaign: Campaign, candidate: str, told: Mapping[str, int | bool]) -> str:
    """Return what coverage, superiority and noninferiority, in the order of the policy, amount to."""
    if told["missing_baseline"] or told["missing_candidate"]:
        return "indeterminate"
    for gate in campaign.gates:
        if gate["kind"] == "coverage":
            status = "pass" if told["is_complete"] else "indeterminate"
        else:
            (metric,) = [each for each in campaign.metrics if each.metric == gate["metric"]]
            line = gate["threshold"] if gate["kind"] == "superiority" else -gate["threshold"]
            status = verdict(units_of(campaign, metric, candidate), metric, line, gate["options"]["alpha"])
        if status != "pass":
            return status
    return "pass"
