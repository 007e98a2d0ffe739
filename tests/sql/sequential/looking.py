"""Campaigns that a sequential gate looks at, and an implementation of its own of order, looks and verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

import numpy as np
from scipy.stats import norm, t

from tests.sql.build import Campaign

SEED = "0123456789abcdef"
#: What a look or a whole path found: the status, and the number of cases at which it was found.
Found = tuple[str, int | None]


@dataclass(frozen=True)
class Seeded(Campaign):
    """A campaign with a seed root of its own."""

    seed_root: str = SEED

    @property
    def identity(self) -> dict[str, Any]:
        """What the campaign's identity covers."""
        return super().identity | {"seed_root": self.seed_root}


def gate(threshold: float = 0.0, metric: str = "m", name: str = "looked", **options: Any) -> dict[str, Any]:
    """Return a sequential gate; Student's t may decide from two cases on, unless told otherwise."""
    return {
        "kind": "sequential",
        "metric": metric,
        "threshold": threshold,
        "name": name,
        "options": {"min_cases": 2, **options},
    }


def closing(cases: Any) -> tuple[str, dict[str, Any]]:
    """Return the event that closes a plan."""
    return "plan.closed", {"cases": cases, "reason": "every sequential gate is settled"}


def registered(cases: Iterable[str], clusters: Mapping[str, str] | None = None, seed: str = SEED) -> list[str]:
    """Return cases in the registered order: by hashes of cluster and case under the seed."""
    groups = clusters or {}

    def place(case: str) -> tuple[str, str, str]:
        cluster = f"cluster {groups[case]}" if case in groups else f"case {case}"
        return md5((seed + cluster).encode()).hexdigest(), md5((seed + case).encode()).hexdigest(), case

    return sorted(cases, key=place)


def spent(alpha: float, looks: Sequence[int], spending: str) -> list[float]:
    """Return what each look may spend."""
    if spending == "even":
        return [alpha / len(looks)] * len(looks)
    until = [2 * norm.sf(norm.ppf(1 - alpha / 2) / math.sqrt(look / looks[-1])) for look in looks]
    return [float(each) for each in np.diff([0.0, *until])]


def looked(deltas: Sequence[float], threshold: float, looks: Sequence[int], alphas: Sequence[float]) -> Found:
    """Return what Student's t finds at the first look that decides.

    Args:
        deltas: oriented deltas of the first cases of the order that were tried.
        threshold: what the mean must exceed.
        looks: numbers of cases.
        alphas: what each look may spend.
    """
    for look, alpha in zip(looks, alphas, strict=True):
        if look > len(deltas):
            break
        above = np.array(deltas[:look]) - threshold
        if _tail(above) <= alpha:
            return "pass", look
        if _tail(-above) <= alpha:
            return "fail", look
    return "indeterminate", None


def _tail(sample: np.ndarray[Any, Any]) -> float:
    return float(t.sf(sample.mean() / (sample.std(ddof=1) / math.sqrt(len(sample))), len(sample) - 1))


def wealth_path(sample: Sequence[float], lower: float, line: float) -> np.ndarray[Any, Any]:
    """Return the wealth after each value, of one unit spread evenly over eight fixed stakes."""
    stakes = np.geomspace(0.03, 0.98, 8)[:, None]
    gains = 1 + stakes * (np.array(sample) - line) / (line - lower)
    return np.asarray(np.cumprod(gains, axis=1).mean(axis=0))


def bet(low: Sequence[float], high: Sequence[float], threshold: float, width: float, alpha: float) -> Found:
    """Return what bets found that no mean within -width and width could explain, whichever side found it first."""
    passed = np.flatnonzero(wealth_path(low, -width, threshold) >= 1 / alpha)
    failed = np.flatnonzero(wealth_path([-each for each in high], -width, -threshold) >= 1 / alpha)
    if len(passed) and (not len(failed) or passed[0] <= failed[0]):
        return "pass", int(passed[0]) + 1
    return ("fail", int(failed[0]) + 1) if len(failed) else ("indeterminate", None)
