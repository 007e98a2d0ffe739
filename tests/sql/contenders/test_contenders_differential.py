"""Contenders over tables given by hand: clusters, gaps and many campaigns, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import t

from tests.sql.kernel import fill, kernel, read_alike

READS = ("case_deltas", "cases", "comparisons", "decisions", "declarations", "metrics", "selection")


@pytest.fixture(scope="module")
def con() -> Any:
    con = kernel("contenders", READS)
    yield con
    con.close()


def tables(
    campaigns: Mapping[str, Mapping[str, Mapping[str, float]]], clusters: Mapping[str, str | None], reach: float = 1.0
) -> dict[str, list[tuple[Any, ...]]]:
    """Return what the view reads of campaigns whose candidates have these deltas by case; all pass."""
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in READS}
    for campaign, deltas in campaigns.items():
        scores = {who: float(np.mean(list(own.values()))) for who, own in deltas.items()}
        winner = min(scores, key=lambda who: (-scores[who], who))
        found["declarations"].append((campaign, "base", "m"))
        found["metrics"].append((campaign, "m", 0.0, reach))
        found["selection"].append((campaign, winner, "selected"))
        found["cases"] += [(campaign, case, cluster, None) for case, cluster in clusters.items()]
        for who, own in deltas.items():
            found["decisions"].append((campaign, who, who, "pass", scores[who]))
            found["comparisons"].append((campaign, who, "m", len(clusters) - len(own), len(own), scores[who]))
            found["case_deltas"] += [(campaign, who, "m", case, 0.0, delta, delta) for case, delta in own.items()]
    return found


def expected(
    deltas: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str | None], winner: str, who: str
) -> Any:
    """Return difference, standard error and limits by the formulas of the textbook."""
    common = [case for case in clusters if case in deltas[winner] and case in deltas[who]]
    if not common:
        return (None,) * 4
    differences = np.array([deltas[winner][case] - deltas[who][case] for case in common])
    mean = float(differences.mean())
    names = [("cluster", clusters[case]) if clusters[case] else ("case", case) for case in common]
    sums = [sum(d - mean for d, name in zip(differences, names, strict=True) if name == each) for each in set(names)]
    count = len(sums)
    if count < 2:
        return mean, None, None, None
    error = (count / (count - 1) * sum(each**2 for each in sums)) ** 0.5 / len(common)
    alpha = 0.025 / (len(deltas) - 1)
    size = max(abs(deltas[each][case]) for each in (winner, who) for case in common)
    if np.ptp(differences) <= 1e-13 * size:
        share = 1 - alpha ** (1 / count)
        return mean, error, mean - (mean + 1) * share, mean + (1 - mean) * share
    if error == 0:
        return mean, error, None, None
    half = t.ppf(1 - alpha, count - 1) * error
    return mean, error, mean - half, mean + half


def test_a_cluster_of_cases_is_one_unit(con: Any) -> None:
    clusters = {"a": "g", "b": "g", "c": None, "d": "a"}  # a cluster named like a case is not that case's
    deltas = {"c1": {"a": 0.9, "b": 0.9, "c": 0.8, "d": 0.6}, "c2": {"a": 0.1, "b": 0.3, "c": 0.4, "d": 0.6}}
    fill(con, tables({"k": deltas}, clusters))
    # differences .8 .6 .4 0: mean .45; cluster sums .35 + .15 = .5, -.05, -.45; squares .25 + .0025 + .2025 = .455
    # standard error sqrt(3 / 2 * .455) / 4
    found = read_alike(con, "select difference, standard_error, ci_low from contenders where not is_selected")
    error = (1.5 * 0.455) ** 0.5 / 4
    assert found == [
        {
            "difference": pytest.approx(0.45),
            "standard_error": pytest.approx(error),
            "ci_low": pytest.approx(0.45 - t.ppf(0.975, 2) * error),
        }
    ]


def test_a_single_cluster_tells_no_spread(con: Any) -> None:
    deltas = {"c1": {"a": 0.9, "b": 0.9}, "c2": {"a": 0.1, "b": 0.3}}
    fill(con, tables({"k": deltas}, {"a": "g", "b": "g"}))
    query = "select standard_error, ci_low, ci_high, is_separated from contenders where not is_selected"
    assert list(read_alike(con, query)[0].values()) == [None] * 4


def test_clusters_that_cancel_out_tell_no_spread(con: Any) -> None:
    # differences .25 .75 and .75 .25: each cluster's deviations from .5 sum to 0
    deltas = {"c1": {"a": 0.5, "b": 1.0, "c": 1.0, "d": 0.5}, "c2": dict.fromkeys("abcd", 0.25)}
    fill(con, tables({"k": deltas}, {"a": "g", "b": "g", "c": "h", "d": "h"}))
    query = "select standard_error, ci_low, ci_high, is_separated from contenders where not is_selected"
    assert list(read_alike(con, query)[0].values()) == [0.0, None, None, None]


worths = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False))
case_ids = [f"w{ix}" for ix in range(6)]
drawn_campaigns = st.lists(
    st.dictionaries(
        st.sampled_from([f"c{ix}" for ix in range(5)]),
        st.dictionaries(st.sampled_from(case_ids), worths, min_size=1),
        min_size=1,
    ),
    min_size=10,
    max_size=20,
)


@given(
    drawn=drawn_campaigns,
    named=st.lists(st.sampled_from([None, None, "g", "h"]), min_size=len(case_ids), max_size=len(case_ids)),
)
@settings(max_examples=15)
def test_every_number_is_that_of_the_textbook(con: Any, drawn: Any, named: Any) -> None:
    clusters = dict(zip(case_ids, named, strict=True))
    campaigns = {f"k{ix:02d}": deltas for ix, deltas in enumerate(drawn)}
    given_tables = tables(campaigns, clusters)
    fill(con, given_tables)
    winners = {campaign: winner for campaign, winner, _ in given_tables["selection"]}
    found = read_alike(con, "from contenders order by campaign_id, candidate_id")
    assert len(found) == sum(map(len, campaigns.values()))
    for row in found:
        campaign, who = row["campaign_id"], row["candidate_id"]
        deltas, winner = campaigns[campaign], winners[campaign]
        numbers = [row["difference"], row["standard_error"], row["ci_low"], row["ci_high"]]
        if who == winner:
            assert row["is_selected"]
            assert [*numbers, row["is_separated"]] == [None] * 5
            continue
        wanted = [None if each is None else pytest.approx(each, 1e-9, 1e-9)
                  for each in expected(deltas, clusters, winner, who)]  # fmt: skip
        assert numbers == wanted
        assert row["cases"] == len(deltas[winner].keys() & deltas[who].keys())
        gaps = 2 * len(case_ids) - len(deltas[winner]) - len(deltas[who])
        assert row["missing"] == gaps
        low = row["ci_low"]
        assert row["is_separated"] == (None if low is None or (low > 0 and gaps) else low > 0)


def test_the_best_one_is_seldom_set_aside(con: Any) -> None:
    # 400 campaigns of 8 candidates that are all alike: whichever is called the best is set aside in 2.5 % at most. The
    # winner being picked on the same evidence, unadjusted limits would set it aside more often.
    generator = np.random.default_rng(20261201)
    campaigns = {}
    for ix in range(400):
        drawn = generator.normal(size=(8, 12)) + generator.normal(size=12)  # the baseline's noise is common
        campaigns[f"k{ix}"] = {
            f"c{who}": {f"w{case}": float(value) for case, value in enumerate(values)}
            for who, values in enumerate(drawn)
        }
    fill(con, tables(campaigns, {f"w{case}": None for case in range(12)}))
    found = read_alike(
        con, "select candidate_id, count(*) filter (is_separated) as times from contenders group by all order by all"
    )
    times = [row["times"] for row in found]
    assert sum(times) / len(times) <= 0.025 * 400
    assert sum(times) > 0
