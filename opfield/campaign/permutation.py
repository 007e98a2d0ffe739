"""Adjusted p-values of many candidates by sign flips: step-down max-T (Westfall and Young 1993, algorithm 4.1).

Every declared candidate is one hypothesis: its mean oriented delta is at most the line. Under it the deltas less the
line are taken to be as likely above 0 as below, each as far; then any unit's sign may be flipped. One flip serves all
candidates, so that what they have in common, the baseline first of all, is kept, and the adjustment is no harsher than
it must be. Where the deltas are skewed the level is approximate.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from opfield.prob import Seed

if TYPE_CHECKING:
    # Loaded where it is used: most commands compute no evidence.
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

DRAWS: Final = 9_999
#: Statistics this close are equal: rounding must not decide whether a permutation reaches what was seen.
_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class UnitValue:
    """One case of the input.

    Attributes:
        candidate_id: candidate.
        scope: cases that are tested together.
        cluster: unit whose sign is flipped as a whole.
        value: oriented delta, everything missing taken as the worst; None where that has no bound.
    """

    candidate_id: str
    scope: str
    cluster: str
    value: float | None


def permutation_results(units: Sequence[UnitValue], gate: Mapping[str, Any], seed: Seed) -> list[dict[str, Any]]:
    """Return the adjusted one-sided p-value of each candidate.

    A candidate that is tested in several scopes has the largest of its p-values. One with a delta that has no bound has
    1, and a reason; it takes no part in the maximum.

    Args:
        units: every case of every declared candidate and scope.
        gate: `threshold`, the line, as the view `inference_gates` has it.
        seed: seed of the flips.

    Returns:
        `candidate_id`, `measure` (mean), `estimate` (mean of the values), `p_value` and `reason`, by candidate.
    """
    tested: dict[tuple[str, str], list[UnitValue]] = {}
    for unit in units:
        tested.setdefault((unit.candidate_id, unit.scope), []).append(unit)
    unbounded: dict[str, int] = {}
    for unit in units:
        unbounded[unit.candidate_id] = unbounded.get(unit.candidate_id, 0) + (unit.value is None)
    usable = {key: listed for key, listed in sorted(tested.items()) if not unbounded[key[0]]}
    p_values = _adjusted(usable, gate["threshold"], seed)
    results = []
    for candidate, missing in sorted(unbounded.items()):
        own = {key: p for key, p in p_values.items() if key[0] == candidate}
        worst = max(own, key=lambda key: (own[key], key), default=None)
        values = [unit.value for unit in usable[worst] if unit.value is not None] if worst else []
        results.append(
            {
                "candidate_id": candidate,
                "measure": "mean",
                "estimate": math.fsum(values) / len(values) if values else None,
                "low": None,
                "high": None,
                "p_value": own[worst] if worst else 1.0,
                "reason": f"cases whose delta could be as bad as anything: {missing}" if missing else None,
            }
        )
    return results


def _adjusted(
    tested: Mapping[tuple[str, str], Sequence[UnitValue]], line: float, seed: Seed
) -> dict[tuple[str, str], float]:
    """Return the step-down p-value of each hypothesis."""
    import numpy as np

    if not tested:
        return {}
    clusters = sorted({unit.cluster for listed in tested.values() for unit in listed})
    sums = np.array([_scaled(listed, clusters, line) for listed in tested.values()], dtype=np.float64)
    observed = np.array([math.fsum(row) for row in sums], dtype=np.float64)
    flipped = np.zeros((DRAWS, len(tested)), dtype=np.float64)
    for cluster, values in zip(clusters, sums.T, strict=True):
        # Added one by one in the order of clusters: no library's order of summation enters.
        flipped += signs(seed, cluster)[:, None] * values[None, :]
    order = np.argsort(-observed, kind="stable")
    # The maximum over the hypotheses that are no more significant than each.
    reached = np.maximum.accumulate(flipped[:, order[::-1]], axis=1)[:, ::-1]
    counts = np.sum(reached >= observed[order] - _SLACK, axis=0)
    stepped = np.maximum.accumulate((1 + counts) / (DRAWS + 1))
    keys = list(tested)
    return {keys[ix]: float(p) for ix, p in zip(order, stepped, strict=True)}


def _scaled(units: Sequence[UnitValue], clusters: Sequence[str], line: float) -> list[float]:
    """Return the sum over each cluster of the values less the line, all divided by the root of their sum of squares.

    No flip changes that root, so that the sum ranks the flips as Student's t does, and those of different candidates
    alike.
    """
    parts: dict[str, list[float]] = {}
    for unit in units:
        if unit.value is not None:
            parts.setdefault(unit.cluster, []).extend((unit.value, -line))
    sums = [math.fsum(parts.get(cluster, ())) for cluster in clusters]
    largest = max(map(abs, sums), default=0.0)
    if largest == 0:
        return sums
    root = math.sqrt(math.fsum((each / largest) ** 2 for each in sums))
    return [each / largest / root for each in sums]


def signs(seed: Seed, cluster: str) -> Numbers:
    """Return +1 or -1 of a unit in each draw: bits of SHAKE-256, so that they are the same everywhere and for good."""
    import numpy as np

    stream = hashlib.shake_256(f"opfield/flips/v1\0{seed.hex}\0{cluster}".encode())
    bits = np.unpackbits(np.frombuffer(stream.digest((DRAWS + 7) // 8), dtype=np.uint8))[:DRAWS]
    return 1.0 - 2.0 * bits.astype(np.float64)
