"""Shrinkage over tables given by hand: against NumPy, and against what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.sql.kernel import fill, kernel, read_alike

READS = ("case_deltas", "cases", "comparisons", "declarations")
Deltas = np.ndarray[Any, np.dtype[np.float64]]


@pytest.fixture(scope="module")
def con() -> Any:
    con = kernel("shrinkage", READS)
    yield con
    con.close()


def fill_with(con: Any, campaigns: Mapping[str, Deltas], clusters: list[str | None]) -> None:
    """Let the view read campaigns of candidates × cases; NaN is a delta that is missing."""
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in READS}
    for campaign, deltas in campaigns.items():
        tables["declarations"].append((campaign, "base", "m"))
        tables["cases"] += [(campaign, f"w{ix:02d}", cluster, None) for ix, cluster in enumerate(clusters)]
        for who, own in enumerate(deltas):
            known = [(f"w{ix:02d}", float(delta)) for ix, delta in enumerate(own) if not np.isnan(delta)]
            mean = sum(delta for _, delta in known) / len(known) if known else None
            tables["comparisons"].append((campaign, f"c{who:02d}", "m", 0, len(known), mean))
            tables["case_deltas"] += [(campaign, f"c{who:02d}", "m", case, 0.0, delta, delta) for case, delta in known]
    fill(con, tables)


def expected(deltas: Deltas, clusters: list[str | None]) -> Any:
    """Return the expected scores of candidates that all have a delta, NaN where unknown."""
    scores = np.nanmean(deltas, axis=1)
    known = ~np.isnan(deltas)
    used = known.any(axis=0)
    residuals = deltas - scores[:, None]
    residuals[:, used] -= np.nanmean(residuals[:, used], axis=0)
    names = np.array([f"cluster {cluster}" if cluster else f"case {ix}" for ix, cluster in enumerate(clusters)])
    groups = set(names[used])
    sums = [np.nansum(residuals[:, names == group], axis=1) for group in groups]
    comparable = known.sum() - used.sum()
    if len(scores) < 3 or len(groups) < 2 or comparable == 0:
        return np.full(len(scores), np.nan)
    variance = (np.array(sums) ** 2).sum() * len(groups) / (len(groups) - 1) / comparable
    noises = variance / known.sum(axis=1)
    prior = scores.var(ddof=1) - noises.mean()
    kept = prior / (prior + noises) if prior > 0 else np.zeros(len(scores))
    return scores.mean() + kept * (scores - scores.mean())


deltas = st.one_of(st.sampled_from([0.0, 0.5, 1.0, np.nan]), st.floats(-1, 1, allow_subnormal=False))


@st.composite
def drawn_campaigns(draw: st.DrawFn) -> tuple[dict[str, Deltas], list[str | None]]:
    clusters = draw(st.lists(st.sampled_from([None, None, "g", "h"]), min_size=1, max_size=6))
    campaigns = {}
    for ix in range(draw(st.integers(8, 16))):
        grid = draw(st.lists(st.lists(deltas, min_size=len(clusters), max_size=len(clusters)), min_size=1, max_size=5))
        scored = [row for row in grid if not np.isnan(row).all()]
        if scored:
            campaigns[f"k{ix:02d}"] = np.array(scored)
    return campaigns, clusters


@given(drawn=drawn_campaigns())
@settings(max_examples=20)
def test_every_expected_score_is_that_of_numpy(con: Any, drawn: Any) -> None:
    campaigns, clusters = drawn
    fill_with(con, campaigns, clusters)
    found = read_alike(con, "from shrinkage order by campaign_id, candidate_id")
    wanted = [each for deltas in campaigns.values() for each in expected(deltas.copy(), clusters)]
    assert len(found) == len(wanted)
    for row, want in zip(found, wanted, strict=True):
        # where noise and spread all but cancel, the last bits decide whether anything is kept
        assert row["expected_score"] == (None if np.isnan(want) else pytest.approx(want, rel=1e-9, abs=1e-7))
        if row["expected_score"] is not None:
            assert row["expected_shrinkage"] == row["score"] - row["expected_score"]


def test_balanced_noise_is_the_residual_mean_square_of_two_way_anova(con: Any) -> None:
    grid = np.random.default_rng(5).normal(size=(4, 7)) + np.arange(4)[:, None]
    fill_with(con, {"k": grid}, [None] * 7)
    residuals = grid - grid.mean(axis=1, keepdims=True) - grid.mean(axis=0) + grid.mean()
    noise = (residuals**2).sum() / (3 * 6) / 7
    scores = grid.mean(axis=1)
    kept = 1 - noise / scores.var(ddof=1)
    found = [row["expected_score"] for row in read_alike(con, "from shrinkage order by candidate_id")]
    assert found == pytest.approx(list(scores.mean() + kept * (scores - scores.mean())))


@pytest.mark.parametrize(("spread", "left"), [(0.0, 0.25), (0.2, 0.15), (1.0, 0.15)])
def test_the_selected_score_is_no_longer_too_good(con: Any, spread: float, left: float) -> None:
    # 600 campaigns of 10 candidates and 20 cases; the baseline's noise is as large as a candidate's. The score of the
    # best is too good by 1.54 standard errors where all are equal. Taking the baseline's noise for a candidate's would
    # shrink too much, and shows as a bias the other way where the candidates differ.
    generator = np.random.default_rng(20261202)
    truths, campaigns = {}, {}
    for ix in range(600):
        truth = spread * generator.normal(size=10)
        baseline = generator.normal(size=20)
        baseline -= baseline.mean()  # what all candidates share biases none; without it fewer draws will do
        truths[f"k{ix}"] = truth
        campaigns[f"k{ix}"] = truth[:, None] + generator.normal(size=(10, 20)) - baseline
    fill_with(con, campaigns, [None] * 20)
    query = "from shrinkage qualify row_number() over (partition by campaign_id order by score desc) = 1 order by all"
    best = read_alike(con, query)
    assert len(best) == 600
    true = np.array([truths[row["campaign_id"]][int(row["candidate_id"][1:])] for row in best])
    naive = np.array([row["score"] for row in best]) - true
    shrunk = np.array([row["expected_score"] for row in best]) - true
    error = shrunk.std() / 600**0.5
    assert naive.mean() > 5 * error
    assert abs(shrunk.mean()) < left * naive.mean() + 2 * error
    assert (shrunk**2).mean() < (naive**2).mean()
