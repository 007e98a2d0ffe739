"""Pareto noise over tables given by hand: dominators, clusters and gaps, against NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import t

from tests.sql.kernel import fill, kernel, read_alike

READS = ("case_deltas", "cases", "comparisons", "metrics", "pareto", "pareto_points")
REACH = {"m": 1.0, "n": None}


@pytest.fixture(scope="module")
def con() -> Any:
    con = kernel("pareto_noise", READS)
    yield con
    con.close()


def dominates(left: list[float], right: list[float]) -> bool:
    return all(a >= b for a, b in zip(left, right, strict=True)) and left != right


def dominators(points: dict[str, list[float]]) -> dict[str, str | None]:
    """Return of each candidate the smallest id among those that dominate it and that none dominates."""
    front = [who for who in sorted(points) if not any(dominates(other, points[who]) for other in points.values())]
    return {
        who: next((other for other in front if dominates(points[other], point)), None) for who, point in points.items()
    }


def low_of(differences: dict[str, float], clusters: dict[str, str | None], size: float, reach: float | None) -> Any:
    """Return the lower limit of a mean difference, None where it is unknown."""
    values = np.array(list(differences.values()))
    if len(values) and not values.any():
        return 0.0
    groups: dict[Any, float] = {}
    for case, value in differences.items():
        name = ("cluster", clusters[case]) if clusters[case] else ("case", case)
        groups[name] = groups.get(name, 0.0) + value - values.mean()
    count = len(groups)
    if count < 2:
        return None
    if np.ptp(values) <= 1e-13 * size:
        return None if reach is None else values.mean() - (values.mean() + reach) * (1 - 0.025 ** (1 / count))
    error = (count / (count - 1) * sum(each**2 for each in groups.values())) ** 0.5 / len(values)
    return values.mean() - t.ppf(0.975, count - 1) * error if error else None


worths = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 0.5, 1.0]), st.integers(0, 1000).map(lambda n: n / 1000))
case_ids = [f"w{ix}" for ix in range(6)]


@given(
    drawn=st.lists(
        st.dictionaries(
            st.sampled_from([f"c{ix}" for ix in range(5)]),
            st.lists(st.lists(worths, min_size=6, max_size=6), min_size=2, max_size=2),
            min_size=1,
        ),
        min_size=10,
        max_size=20,
    ),
    lift=st.sampled_from([0.0, 1.0]),
    named=st.lists(st.sampled_from([None, None, None, "g", "h"]), min_size=6, max_size=6),
)
@settings(max_examples=20)
def test_every_verdict_is_that_of_the_textbook(con: Any, drawn: Any, lift: float, named: Any) -> None:
    clusters = dict(zip(case_ids, named, strict=True))
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in READS}
    wanted: dict[tuple[str, str], Any] = {}
    for ix, candidates in enumerate(drawn):
        campaign = f"k{ix:02d}"
        tables["cases"] += [(campaign, case, cluster, None) for case, cluster in clusters.items()]
        tables["metrics"] += [(campaign, metric, 0.0, reach) for metric, reach in REACH.items()]
        known: dict[str, list[dict[str, float]]] = {}
        for who, grid in candidates.items():
            # a lift makes one candidate better than most everywhere, so that some verdicts are beyond noise
            known[who] = [
                {case: value + lift * (who == "c2") for case, value in zip(case_ids, own, strict=True)
                 if value is not None}
                for own in grid
            ]  # fmt: skip
        points = {who: [sum(own.values()) / len(own) for own in grid] for who, grid in known.items() if all(grid)}
        found = dominators(points)
        for who, grid in known.items():
            point = points.get(who, [None, None])
            is_front = found[who] is None if who in points else None
            tables["pareto"].append((campaign, who, is_front))
            tables["pareto_points"].append((campaign, who, *point, *(0.0,) * 6))
            wanted[campaign, who] = (found.get(who), None)
            for metric, own in zip(REACH, grid, strict=True):
                tables["comparisons"].append((campaign, who, metric, len(case_ids) - len(own), len(own), None))
                tables["case_deltas"] += [
                    (campaign, who, metric, case, 0.0, value, value) for case, value in own.items()
                ]
        for who, other in found.items():
            if other is not None:
                lows, gaps = [], 0
                for own, better, reach in zip(known[who], known[other], REACH.values(), strict=True):
                    common = {case: better[case] - own[case] for case in own if case in better}
                    size = max((abs(value) for case in common for value in (own[case], better[case])), default=0.0)
                    lows.append(low_of(common, clusters, size, reach) if common else None)
                    gaps += 2 * len(case_ids) - len(own) - len(better)
                sure = [low for low in lows if low is not None]
                verdict = None
                if any(low < 0 for low in sure):
                    verdict = False
                elif len(sure) == len(lows) and not gaps:
                    verdict = any(low > 0 for low in sure)
                wanted[campaign, who] = (other, verdict)
    fill(con, tables)
    rows = read_alike(con, "from pareto_noise order by campaign_id, candidate_id")
    assert {
        (row["campaign_id"], row["candidate_id"]): (row["dominated_by"], row["is_beyond_noise"]) for row in rows
    } == wanted
