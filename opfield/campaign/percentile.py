"""Quantiles with bootstrap limits: cases are resampled, since the cells of one case are no independent observations.

The quantile of n values is the smallest of them that at least a share q of all does not exceed (type 1 of Hyndman and
Fan 1996): always a value that was seen. The limits are percentiles of its bootstrap distribution over resampled
clusters (Efron and Tibshirani 1993, chapter 13; for clusters, Davison and Hinkley 1997, section 3.8). Their error rate
is approximate, and too low where few cells lie beyond the quantile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from opfield.prob import Seed

if TYPE_CHECKING:
    # Loaded where it is used: most commands compute no evidence.
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Numbers = NDArray[np.float64]

RESAMPLES: Final = 9_999
#: Units below which percentile limits of a bootstrap are not to be relied on.
LEAST_UNITS: Final = 50
#: Members of the largest array that is held at once.
_CHUNK: Final = 4_000_000
#: A quantile is taken as a fraction of at most this denominator, so that ranks are whole numbers.
_DENOMINATOR: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CellValue:
    """One cell of the input.

    Attributes:
        candidate_id: candidate, or the baseline.
        arm: baseline or candidate.
        cluster: unit that is resampled.
        value: what is ranked; None where unknown.
    """

    candidate_id: str
    arm: str
    cluster: str
    value: float | None


def percentile_results(cells: Sequence[CellValue], gate: Mapping[str, Any], seed: Seed) -> list[dict[str, Any]]:
    """Return what a percentile gate has as evidence: a quantile, and a ratio where one is asked for, of each candidate.

    Args:
        cells: every declared cell, those of the baseline included.
        gate: `q`, `alpha`, and `ratio_at_most` (None where no ratio is asked for), as the view `percentile_gates` has
            them.
        seed: seed of the resampling.

    Returns:
        `candidate_id`, `measure` (quantile or ratio), `estimate`, `low`, `high` and `reason`, by candidate.
    """
    names = sorted({cell.cluster for cell in cells})
    codes = {name: code for code, name in enumerate(names)}
    arms: dict[str, list[CellValue]] = {}
    for cell in cells:
        arms.setdefault(cell.candidate_id, []).append(cell)
    baseline = next((each for each, listed in sorted(arms.items()) if listed[0].arm == "baseline"), None)
    least = least_units(gate["q"], gate["alpha"])
    problems = {each: _problem(listed, len(names), least) for each, listed in arms.items()}
    q = Fraction(gate["q"]).limit_denominator(_DENOMINATOR)
    ranked = {each: _Ranked.of(listed, codes, q) for each, listed in sorted(arms.items()) if problems[each] is None}
    quantiles = _resampled(ranked, len(names), seed)
    results = []
    for candidate in sorted(arms.keys() - {baseline}):
        problem = problems[candidate]
        found = None if problem else _limits(ranked[candidate].quantile(), quantiles[candidate], gate["alpha"])
        results.append(_result(candidate, "quantile", found, problem))
        if gate["ratio_at_most"] is None:
            continue
        if baseline is None or problems[baseline] is not None:
            problem = problem or f"of the baseline: {problems.get(baseline or '', 'no cells')}"
        elif problem is None and min(ranked[baseline].quantile(), quantiles[baseline].min()) <= 0:
            problem = "the baseline's quantile is not above 0 in every resample, so there is no ratio to it"
        if problem is None and baseline is not None:
            estimate = ranked[candidate].quantile() / ranked[baseline].quantile()
            found = _limits(estimate, quantiles[candidate] / quantiles[baseline], gate["alpha"])
        results.append(_result(candidate, "ratio", None if problem else found, problem))
    return results


def least_units(q: float, alpha: float) -> int:
    """Return how many independent units a limit of a quantile needs at the one-sided error rate alpha.

    A sample of n units lies wholly on one side of the quantile with the probability max(q, 1 - q)^n; while that is
    above alpha, no limit within the sample can hold.

    >>> least_units(0.95, 0.025), least_units(0.5, 0.025)
    (72, 50)
    """
    return max(LEAST_UNITS, math.ceil(math.log(alpha) / math.log(max(q, 1 - q))))


def _problem(cells: Sequence[CellValue], units: int, least: int) -> str | None:
    unknown = sum(cell.value is None for cell in cells)
    if unknown:
        return f"cells without a value: {unknown} of {len(cells)}"
    if units < least:
        return f"a bootstrap over {units} cases or clusters is not to be relied on, at least {least} are needed"
    return None


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Values of one candidate in ascending order, each with the code of its cluster, and the quantile asked for."""

    values: Numbers
    clusters: Counts
    q: Fraction

    @classmethod
    def of(cls, cells: Sequence[CellValue], codes: Mapping[str, int], q: Fraction) -> _Ranked:
        import numpy as np

        values = np.array([cell.value for cell in cells], dtype=np.float64)
        clusters = np.array([codes[cell.cluster] for cell in cells], dtype=np.int64)
        order = np.argsort(values, kind="stable")
        return cls(values[order], clusters[order], q)

    def quantile(self) -> float:
        return float(self.values[math.ceil(self.q * len(self.values)) - 1])

    def quantiles(self, counts: Counts) -> Numbers:
        """Return the quantile in each resample; `counts` is resamples × clusters: how often each was drawn."""
        import numpy as np

        below = np.cumsum(counts[:, self.clusters], axis=1)
        is_enough = below * self.q.denominator >= below[:, -1:] * self.q.numerator
        chosen: Numbers = self.values[np.argmax(is_enough, axis=1)]
        return chosen


def _resampled(ranked: Mapping[str, _Ranked], units: int, seed: Seed) -> dict[str, Numbers]:
    """Return the bootstrap distribution of each candidate's quantile; all share the resamples."""
    import numpy as np

    if not ranked:
        return {}
    widest = max(units, *(len(each.values) for each in ranked.values()))
    parts: dict[str, list[Numbers]] = {each: [] for each in ranked}
    for counts in _draws(units, max(1, _CHUNK // widest), seed):
        for each, listed in ranked.items():
            parts[each].append(listed.quantiles(counts))
    return {each: np.concatenate(listed) for each, listed in parts.items()}


def _draws(units: int, chunk: int, seed: Seed) -> Iterator[Counts]:
    """Yield how often each unit was drawn, at most `chunk` resamples at a time; the chunks change no draw."""
    import numpy as np

    # Raw words of a bit generator are the same in every version of NumPy; what Generator makes of them is not.
    words = np.random.PCG64(seed.value)
    for first in range(0, RESAMPLES, chunk):
        size = min(chunk, RESAMPLES - first)
        high = np.asarray(words.random_raw(size * units), dtype=np.uint64) >> np.uint64(32)
        # Multiply and shift: a unit's chance differs from 1/units by less than 2^-32.
        drawn = ((high * np.uint64(units)) >> np.uint64(32)).astype(np.int64).reshape(size, units)
        flat = (drawn + np.arange(size, dtype=np.int64)[:, None] * units).ravel()
        yield np.bincount(flat, minlength=size * units).reshape(size, units).astype(np.int64)


def _limits(estimate: float, resampled: Numbers, alpha: float) -> tuple[float, float, float]:
    """Return the estimate and the percentile limits, rounded outwards to values of the distribution."""
    import numpy as np

    ordered = np.sort(resampled)
    low = math.floor(round((RESAMPLES + 1) * alpha, 6))
    return estimate, float(ordered[low - 1]), float(ordered[RESAMPLES - low])


def _result(
    candidate: str, measure: str, found: tuple[float, float, float] | None, problem: str | None
) -> dict[str, Any]:
    estimate, low, high = found or (None, None, None)
    return {
        "candidate_id": candidate,
        "measure": measure,
        "estimate": estimate,
        "low": low,
        "high": high,
        "p_value": None,
        "reason": problem,
    }
