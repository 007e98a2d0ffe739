"""The gates of `benchmarks.gates` by hand: polars for the case means, NumPy and SciPy for the rest.

It reads the same files as the views and follows the same rules, by another route.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

import opfield as of
from benchmarks.views import DIRECTIONS, REPEATS

Array = npt.NDArray[np.float64]
Verdict = tuple[str, str, str]


@dataclass(frozen=True)
class Units:
    """Case means of one metric, candidates × cases: with every gap at its worst and at its best.

    Attributes:
        low: oriented deltas at their worst.
        high: oriented deltas at their best.
        least: least delta of a single pair at its worst, by candidate.
        mean_low: the candidate's own mean with every gap numerically lowest, by candidate.
        mean_high: the same with every gap numerically highest.
        missing: pairs with a gap.
    """

    low: Array
    high: Array
    least: Array
    mean_low: Array
    mean_high: Array
    missing: Array


def verdicts_by_hand(pattern: Path, policy: of.Policy, metrics: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
    """Return candidate, gate and status of every verdict.

    Args:
        pattern: folder of a table's files, `{table}` standing for the table.
        policy: the gates.
        metrics: range of each metric that a gate names.
    """
    return _ByHand(pattern, metrics).verdicts(policy)


class _ByHand:
    def __init__(self, pattern: Path, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        self.pattern = str(pattern)
        self.metrics = metrics
        columns = ["candidate_id", "arm", "case_id", "repeat", "status", "duration_s"]
        cells = self.scan("cells").select(columns).collect(engine="streaming")
        self.candidate_cells = cells.filter(pl.col("arm") == "candidate")
        self.baseline_cells = cells.filter(pl.col("arm") == "baseline")
        self.candidates = self.candidate_cells["candidate_id"].unique().sort().to_list()
        workload = self.scan("cases").select("case_id", "groups").collect().sort("case_id")
        self.cases = workload["case_id"].to_list()
        self.half = np.array([dict(groups)["half"] for groups in workload["groups"].to_list()])
        self.units: dict[str, Units] = {}

    def scan(self, table: str) -> pl.LazyFrame:
        return pl.scan_parquet(f"{self.pattern.format(table=table)}/*.parquet")

    def verdicts(self, policy: of.Policy) -> list[Verdict]:
        found: list[Verdict] = []
        for gate in policy.gates:
            judge: Callable[[of.Gate], list[str]] = getattr(self, f"judge_{gate.kind}")
            found += [(name, gate.name, status) for name, status in zip(self.candidates, judge(gate), strict=True)]
        return found

    def of_metric(self, metric: str) -> Units:
        """Return the case means of a metric, computed once."""
        if metric not in self.units:
            self.units[metric] = self._units(metric)
        return self.units[metric]

    def _units(self, metric: str) -> Units:
        values = (
            self.scan("measurements")
            .filter((pl.col("metric") == metric) & (pl.col("status") == "success"))
            .select("candidate_id", "case_id", "repeat", "value")
            .collect(engine="streaming")
        )
        lower, upper = self.metrics[metric]["lower"], self.metrics[metric]["upper"]
        sign = DIRECTIONS[metric]
        worst, best = (lower, upper) if sign > 0 else (upper, lower)
        keys = ["candidate_id", "case_id", "repeat"]
        base = self.baseline_cells.select(keys).join(values, on=keys, how="left").drop("candidate_id")
        grid = (
            self.candidate_cells.select(keys)
            .join(values, on=keys, how="left")
            .join(base.rename({"value": "base"}), on=["case_id", "repeat"], how="left")
            .lazy()
            .with_columns(
                low=(pl.col("value").fill_null(worst) - pl.col("base").fill_null(best)) * sign,
                high=(pl.col("value").fill_null(best) - pl.col("base").fill_null(worst)) * sign,
                missing=(pl.col("value").is_null() | pl.col("base").is_null()),
            )
            .group_by("candidate_id", "case_id")
            .agg(
                pl.col("low", "high").mean(),
                pl.col("low").min().alias("least"),
                pl.col("missing").sum(),
                pl.col("value").fill_null(lower).mean().alias("value_low"),
                pl.col("value").fill_null(upper).mean().alias("value_high"),
            )
            .sort("candidate_id", "case_id")
            .collect()
        )
        shape = (len(self.candidates), len(self.cases))
        matrix = {name: grid[name].to_numpy().astype(float).reshape(shape) for name in grid.columns[2:]}
        return Units(
            matrix["low"],
            matrix["high"],
            matrix["least"].min(axis=1),
            matrix["value_low"].mean(axis=1),
            matrix["value_high"].mean(axis=1),
            matrix["missing"].sum(axis=1),
        )

    def judge_coverage(self, _gate: of.Gate) -> list[str]:
        expected = len(self.cases) * REPEATS
        counts = dict(self.candidate_cells.group_by("candidate_id").len().rows())
        is_whole = self.baseline_cells.height == expected
        return ["pass" if is_whole and counts[name] == expected else "indeterminate" for name in self.candidates]

    def judge_failures(self, _gate: of.Gate) -> list[str]:
        # Every failure of this campaign is one of infrastructure, which says nothing about quality.
        failed = pl.col("status") != "success"
        has_failed = bool(self.baseline_cells.filter(failed).height)
        counts = dict(self.candidate_cells.filter(failed).group_by("candidate_id").len().rows())
        return ["indeterminate" if has_failed or counts.get(name) else "pass" for name in self.candidates]

    def judge_budget(self, gate: of.Gate) -> list[str]:
        spent = dict(self.candidate_cells.group_by("candidate_id").agg(pl.col("duration_s").sum()).rows())
        return ["pass" if spent[name] <= gate.options["at_most"] else "fail" for name in self.candidates]

    def judge_mean_delta(self, gate: of.Gate) -> list[str]:
        units, line = self.of_metric(str(gate.metric)), float(gate.threshold or 0)
        return _three(units.low.mean(axis=1) >= line, units.high.mean(axis=1) < line)

    def judge_worst_delta(self, gate: of.Gate) -> list[str]:
        least = self.of_metric(str(gate.metric)).least
        return _three(least >= float(gate.threshold or 0), np.zeros(len(least), bool))

    def judge_candidate_mean(self, gate: of.Gate) -> list[str]:
        units, most = self.of_metric(str(gate.metric)), gate.options["at_most"]
        return _three(units.mean_high <= most, units.mean_low > most)

    def judge_superiority(self, gate: of.Gate) -> list[str]:
        units, line = self.of_metric(str(gate.metric)), float(gate.threshold or 0)
        if gate.options.get("method") != "bounded":
            above, below = _tails(units.low, units.high, line)
            return _three(above <= gate.options["alpha"], below <= gate.options["alpha"])
        reach = self.metrics[str(gate.metric)]["upper"] - self.metrics[str(gate.metric)]["lower"]
        goal = -np.log(0.025)
        for low, high in zip(units.low, units.high, strict=True):
            _betting_low(low, -reach, goal)
            _betting_low(-high, -reach, goal)
        won = np.array([_wealth(row, -reach, line) >= goal for row in units.low])
        lost = np.array([_wealth(-row, -reach, -line) >= goal for row in units.high])
        return _three(won, lost)

    def judge_noninferiority(self, gate: of.Gate) -> list[str]:
        units, line, alpha = self.of_metric(str(gate.metric)), -float(gate.threshold or 0), gate.options["alpha"]
        passed, failed = np.ones(len(self.candidates), bool), np.zeros(len(self.candidates), bool)
        for group in np.unique(self.half):
            above, below = _tails(units.low[:, self.half == group], units.high[:, self.half == group], line)
            passed &= above <= alpha
            failed |= below <= alpha
        return _three(passed, failed)

    def judge_equivalence(self, gate: of.Gate) -> list[str]:
        units, margin, alpha = self.of_metric(str(gate.metric)), float(gate.threshold or 0), gate.options["alpha"]
        above, below = _tails(units.low, units.high, -margin)
        above_upper, below_upper = _tails(units.low, units.high, margin)
        return _three((above <= alpha) & (below_upper <= alpha), (below <= alpha) | (above_upper <= alpha))

    def judge_harm(self, gate: of.Gate) -> list[str]:
        units, alpha = self.of_metric(str(gate.metric)), gate.options["alpha"]
        above, below = _tails(units.low, units.high, -float(gate.threshold or 0))
        return _three((units.missing == 0) | (above <= 0.5), below <= alpha)

    def judge_family(self, gate: of.Gate) -> list[str]:
        units, alpha = self.of_metric(str(gate.metric)), gate.options["alpha"]
        above, below = _tails(units.low, units.high, float(gate.threshold or 0))
        order = np.argsort(above, kind="stable")
        adjusted = np.empty_like(above)
        adjusted[order] = np.maximum.accumulate(above[order] * np.arange(len(above), 0, -1))
        return _three(adjusted <= alpha, below <= alpha)

    def judge_reliability(self, gate: of.Gate) -> list[str]:
        k, alpha = gate.options["k"], gate.options["alpha"]
        values = (
            self.scan("measurements")
            .filter(
                (pl.col("metric") == gate.metric) & (pl.col("status") == "success") & (pl.col("arm") == "candidate")
            )
            .group_by("candidate_id", "case_id")
            .agg(pl.len().alias("tries"), pl.col("value").sum().alias("successes"))
            .sort("candidate_id", "case_id")
            .collect(engine="streaming")
        )
        shape = (len(self.candidates), len(self.cases))
        successes = values["successes"].to_numpy().reshape(shape)
        tries = values["tries"].to_numpy().reshape(shape)
        above, below = _tails(
            _pass_hat(successes, k), _pass_hat(successes + REPEATS - tries, k), float(gate.threshold or 0)
        )
        return _three(above <= alpha, below <= alpha)

    def judge_resource_ratio(self, gate: of.Gate) -> list[str]:
        ratio = float(gate.threshold or 0)
        keys = ["case_id", "repeat"]
        spared = (
            self.candidate_cells.lazy()
            .join(self.baseline_cells.lazy().select(*keys, base="duration_s"), on=keys)
            .group_by("candidate_id", "case_id")
            .agg((ratio * pl.col("base") - pl.col("duration_s")).mean().alias("spared"))
            .sort("candidate_id", "case_id")
            .collect()
        )
        matrix = spared["spared"].to_numpy().reshape(len(self.candidates), len(self.cases))
        # Every trial of this campaign takes as long as any other: without a range, one value says nothing of others.
        is_constant = np.ptp(matrix, axis=1) <= 1e-12
        above, below = _tails(matrix, matrix, 0.0)
        known = ~is_constant
        return _three(known & (above <= gate.options["alpha"]), known & (below <= gate.options["alpha"]))

    def judge_sequential(self, gate: of.Gate) -> list[str]:
        units, looks, alpha = self.of_metric(str(gate.metric)), gate.options["looks"], gate.options["alpha"]
        root = "0" * 16
        hashes = [
            hashlib.md5((root + "case " + case).encode(), usedforsecurity=False).hexdigest() for case in self.cases
        ]
        order = np.argsort(np.array(hashes))
        spent = [2 * stats.norm.sf(stats.norm.ppf(1 - alpha / 2) / np.sqrt(look / looks[-1])) for look in looks]
        passed, failed = np.zeros(len(self.candidates), bool), np.zeros(len(self.candidates), bool)
        for look, rate in zip(looks, np.diff([0.0, *spent]), strict=True):
            first = order[:look]
            above, below = _tails(units.low[:, first], units.high[:, first], float(gate.threshold or 0))
            is_open = ~passed & ~failed
            passed |= is_open & (above <= rate)
            failed |= is_open & ~passed & (below <= rate)
        return _three(passed, failed)


def _three(passed: npt.NDArray[np.bool_], failed: npt.NDArray[np.bool_]) -> list[str]:
    return ["pass" if won else "fail" if lost else "indeterminate" for won, lost in zip(passed, failed, strict=True)]


def _tails(low: Array, high: Array, line: float) -> tuple[Array, Array]:
    """Return the one-sided p-values of means not above and not below a line, over the widest spread of the gaps."""
    count = low.shape[1]
    worst, best = low.mean(axis=1), high.mean(axis=1)
    deviations = np.maximum((low - best[:, None]) ** 2, (high - worst[:, None]) ** 2)
    error = np.sqrt(deviations.sum(axis=1) / (count - 1) / count)
    with np.errstate(divide="ignore", invalid="ignore"):
        return stats.t.sf((worst - line) / error, count - 1), stats.t.cdf((best - line) / error, count - 1)


def _pass_hat(successes: Array, k: int) -> Array:
    product = np.ones(successes.shape)
    for i in range(k):
        product *= np.maximum(successes - i, 0) / (REPEATS - i)
    return product


def _wealth(sample: Array, lower: float, line: float) -> float:
    first = min(0.7, 3 / np.sqrt(len(sample)))
    stakes = np.geomspace(first, 0.98, 8)
    shares = (sample - line) / (line - lower)
    logs = np.log1p(stakes[:, None] * shares[None, :]).sum(axis=1)
    return float(np.logaddexp.reduce(logs) - np.log(len(stakes)))


def _betting_low(sample: Array, lower: float, goal: float) -> float:
    low, high = lower, float(sample.mean())
    for _ in range(21):
        middle = (low + high) / 2
        low, high = (middle, high) if _wealth(sample, lower, middle) >= goal else (low, middle)
    return low
