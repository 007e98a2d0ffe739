"""Bootstrap limits of quantiles: against NumPy's quantile in each resample, and SciPy's bootstrap as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from opfield.campaign import percentile
from opfield.campaign.percentile import RESAMPLES, CellValue, percentile_results
from opfield.prob import Seed

SEED = Seed(20260101)


def cells(values: Sequence[float | None], candidate: str = "c", per_cluster: int = 1) -> list[CellValue]:
    arm = "baseline" if candidate == "base" else "candidate"
    return [CellValue(candidate, arm, f"case {ix // per_cluster:04}", value) for ix, value in enumerate(values)]


def asks(q: float = 0.95, ratio_at_most: float | None = None, alpha: float = 0.025) -> dict[str, Any]:
    return {"q": q, "alpha": alpha, "ratio_at_most": ratio_at_most}


def drawn(units: int) -> Any:
    return np.concatenate(list(percentile._draws(units, 1000, SEED)))


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(-5, 5), min_size=72, max_size=90),
    q=st.sampled_from([0.5, 0.9, 0.95, 0.07, 1 / 3]),
)
def test_the_estimate_is_the_quantile_that_was_seen(values: list[int], q: float) -> None:
    (result,) = percentile_results(cells([float(each) for each in values]), asks(q), SEED)
    assert result["estimate"] == np.quantile(values, q, method="inverted_cdf")
    assert result["low"] <= result["high"]


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    per_cluster=st.integers(1, 3),
    q=st.sampled_from([0.5, 0.9, 0.95]),
    alpha=st.sampled_from([0.025, 0.05, 0.1]),
)
def test_limits_are_percentiles_over_resampled_clusters(seed: int, per_cluster: int, q: float, alpha: float) -> None:
    random = np.random.default_rng(seed)
    values = np.round(random.lognormal(size=75 * per_cluster), 1).tolist()
    (result,) = percentile_results(cells(values, per_cluster=per_cluster), asks(q, alpha=alpha), SEED)
    grouped = np.array(values).reshape(75, per_cluster)
    resampled = sorted(
        np.quantile(np.repeat(grouped, counts, axis=0), q, method="inverted_cdf") for counts in drawn(75)
    )
    # Of 9,999 values the k-th smallest and the k-th largest, k = 10,000 alpha: at most alpha lies beyond each.
    k = round(10_000 * alpha)
    assert (result["low"], result["high"]) == (resampled[k - 1], resampled[-k])


@pytest.mark.parametrize("alpha", [0.001, 0.025, 0.05, 0.07, 0.49])
def test_as_many_resamples_lie_beyond_the_lower_limit_as_beyond_the_upper(alpha: float) -> None:
    estimate, low, high = percentile._limits(0.5, np.arange(RESAMPLES, dtype=np.float64)[::-1], alpha)
    # 10,000 alpha resamples reach each limit, itself counted; .07 of them are 700, not the 699 of its double.
    assert (estimate, low + 1, RESAMPLES - high) == (0.5, round(10_000 * alpha), round(10_000 * alpha))


def test_limits_agree_with_the_bootstrap_of_scipy() -> None:
    values = np.random.default_rng(5).lognormal(size=400)
    (result,) = percentile_results(cells(values.tolist()), asks(0.9), SEED)

    def quantile(sample: Any, axis: int = -1) -> Any:
        return np.quantile(sample, 0.9, axis=axis, method="inverted_cdf")

    theirs = stats.bootstrap(
        (values,), quantile, n_resamples=9_999, confidence_level=0.95, method="percentile", rng=np.random.default_rng(6)
    ).confidence_interval
    # Monte Carlo leaves each limit some steps between neighbouring observations.
    ordered = np.sort(values)
    for ours, other in ((result["low"], theirs.low), (result["high"], theirs.high)):
        assert abs(np.searchsorted(ordered, ours) - np.searchsorted(ordered, other)) <= 3


def test_the_upper_limit_covers_about_as_often_as_it_says() -> None:
    # 200 samples of 120 exponential values; their .9 quantile is ln 10. At alpha .1 the limit lies below it in about
    # 20 of them: more than 40 would be five standard errors.
    random = np.random.default_rng(1)
    below = 0
    for _ in range(200):
        (result,) = percentile_results(cells(random.exponential(size=120).tolist()), asks(0.9, alpha=0.1), SEED)
        below += result["high"] < np.log(10)
    assert 5 <= below <= 40


def test_each_resample_draws_as_many_units_as_there_are_and_each_equally_often() -> None:
    counts = drawn(57)
    assert counts.shape == (RESAMPLES, 57)
    assert (counts.sum(axis=1) == 57).all()
    # The count of one unit has mean 1 and variance 56/57 over resamples: 5 standard errors are .05.
    assert np.abs(counts.mean(axis=0) - 1).max() < 0.05
    assert abs(counts.var() - 56 / 57) < 0.02


def test_the_size_of_chunks_and_the_order_of_cells_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(size=160).tolist()
    listed = [*cells(values, per_cluster=2), *cells(values[::-1], "base", per_cluster=2)]
    whole = percentile_results(listed, asks(ratio_at_most=2.0), SEED)
    assert percentile_results(listed[::-1], asks(ratio_at_most=2.0), SEED) == whole
    monkeypatch.setattr(percentile, "_CHUNK", 7 * 160)
    assert percentile_results(listed, asks(ratio_at_most=2.0), SEED) == whole
    assert percentile_results(listed, asks(ratio_at_most=2.0), Seed(1)) != whole


def test_a_ratio_pairs_the_arms_case_by_case() -> None:
    values = np.random.default_rng(3).lognormal(size=80)
    listed = [*cells(values.tolist(), "base"), *cells((3 * values).tolist())]
    quantile, ratio = percentile_results(listed, asks(ratio_at_most=4.0), SEED)
    assert quantile["measure"] == "quantile"
    assert quantile["low"] < quantile["estimate"] < quantile["high"]
    # Three times as much in every case is three times as much in every resample.
    assert ratio["measure"] == "ratio"
    assert [ratio[each] for each in ("low", "estimate", "high")] == pytest.approx([3, 3, 3], rel=1e-15)


def reasons(listed: list[CellValue], ratio_at_most: float | None = None) -> list[Any]:
    results = percentile_results(listed, asks(ratio_at_most=ratio_at_most), SEED)
    assert all(each["estimate"] is None and each["high"] is None for each in results if each["reason"])
    return [each["reason"] for each in results]


def test_what_is_unknown_or_too_little_gives_a_reason_and_no_number() -> None:
    known = [float(ix + 1) for ix in range(80)]
    assert reasons(cells([*known, None])) == ["cells without a value: 1 of 81"]
    few = "a bootstrap over 71 cases or clusters is not to be relied on, at least 72 are needed"
    assert reasons(cells(known[:71])) == [few]
    assert reasons(cells(known[:72])) == [None]
    assert reasons([CellValue("c", "candidate", "one", 1.0)] * 80)[0].startswith("a bootstrap over 1 cases or clusters")
    unknown_baseline = [*cells(known), *cells([*known[1:], None], "base")]
    assert reasons(unknown_baseline) == [None]
    assert reasons(unknown_baseline, 2.0) == [None, "of the baseline: cells without a value: 1 of 80"]
    zeros = [*cells(known), *cells([0.0] * 80, "base")]
    assert reasons(zeros, 2.0)[1].startswith("the baseline's quantile is not above 0")


def test_a_rank_is_a_whole_number_whatever_the_fraction_is_in_binary() -> None:
    # .07 × 100 is 7.000000000000001 in doubles, whose ceiling would be the eighth value.
    values = [float(ix + 1) for ix in range(100)]
    assert Fraction(0.07) * 100 > 7
    assert percentile_results(cells(values), asks(0.07), SEED)[0]["estimate"] == 7.0
