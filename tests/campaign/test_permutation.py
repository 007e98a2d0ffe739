"""Step-down max-T by sign flips: against SciPy's exact test, and against every flip enumerated."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from opfield.campaign.permutation import DRAWS, UnitValue, permutation_results, signs
from opfield.prob import Seed

SEED = Seed(20260101)


def units(values: Mapping[str, Sequence[float | None]], scope: str = "") -> list[UnitValue]:
    return [
        UnitValue(candidate, scope, f"case {ix}", value)
        for candidate, listed in values.items()
        for ix, value in enumerate(listed)
    ]


def p_values(listed: Sequence[UnitValue], line: float = 0.0, seed: Seed = SEED) -> dict[str, float]:
    return {each["candidate_id"]: each["p_value"] for each in permutation_results(listed, {"threshold": line}, seed)}


def monte_carlo(p: float) -> float:
    """Return four standard errors of a p-value that is estimated from the draws."""
    return 4 * float(np.sqrt(p * (1 - p) / DRAWS)) + 1 / DRAWS


def enumerated(values: Mapping[str, Sequence[float]], line: float) -> dict[str, float]:
    """Return the step-down p-values over all 2^n flips, each hypothesis in its turn."""
    names = sorted(values)
    deltas = {name: np.array(values[name]) - line for name in names}
    scale = {name: np.sqrt(np.sum(deltas[name] ** 2)) or 1.0 for name in names}
    flips = np.array(list(itertools.product([1.0, -1.0], repeat=len(next(iter(values.values()))))))
    statistics = {name: flips @ deltas[name] / scale[name] for name in names}
    observed = {name: deltas[name].sum() / scale[name] for name in names}
    ordered = sorted(names, key=lambda name: -observed[name])
    found: dict[str, float] = {}
    least = 0.0
    for ix, name in enumerate(ordered):
        largest = np.max([statistics[other] for other in ordered[ix:]], axis=0)
        least = max(least, float(np.mean(largest >= observed[name] - 1e-9)))
        found[name] = least
    return found


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    candidates=st.integers(1, 4),
    cases=st.integers(1, 10),
    shift=st.sampled_from([0.0, 0.3, 1.0]),
    line=st.sampled_from([0.0, -0.1, 0.2]),
    digits=st.sampled_from([0, 1, 6]),
)
def test_p_values_are_those_of_every_flip(
    seed: int, candidates: int, cases: int, shift: float, line: float, digits: int
) -> None:
    normal = np.random.default_rng(seed).normal(size=(candidates, cases))
    # Few digits make ties, which count against the candidate.
    values = {f"c{ix}": np.round(row + shift * ix, digits).tolist() for ix, row in enumerate(normal)}
    ours, exact = p_values(units(values), line), enumerated(values, line)
    for name, p in exact.items():
        assert ours[name] == pytest.approx(p, abs=monte_carlo(p))


def test_one_candidate_has_the_p_value_of_scipys_exact_test() -> None:
    values = [0.9, 0.4, -0.2, 0.7, 0.1, -0.1, 0.5, 0.3, 0.6, -0.3]
    exact = stats.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", alternative="greater", n_resamples=2**10
    ).pvalue
    assert p_values(units({"c": values}))["c"] == pytest.approx(exact, abs=monte_carlo(float(exact)))


def test_units_of_a_cluster_flip_together() -> None:
    # Each case three times over in one cluster says no more than once.
    values = [0.9, 0.4, -0.2, 0.7, 0.1, -0.1, 0.5]
    once = units({"c": values})
    thrice = [unit for unit in once for _ in range(3)]
    assert p_values(thrice) == p_values(once)
    apart = [UnitValue("c", "", f"{unit.cluster} {ix}", unit.value) for ix, unit in enumerate(thrice)]
    assert p_values(apart)["c"] < p_values(once)["c"]


def test_the_order_of_rows_and_the_scale_of_values_change_no_p_value() -> None:
    normal = np.random.default_rng(4).normal(0.3, 1, size=(3, 12))
    listed = units({f"c{ix}": row.tolist() for ix, row in enumerate(normal)})
    shuffled = listed.copy()
    random.Random(1).shuffle(shuffled)
    whole = permutation_results(listed, {"threshold": 0.0}, SEED)
    assert permutation_results(shuffled, {"threshold": 0.0}, SEED) == whole
    scaled = [UnitValue(each.candidate_id, each.scope, each.cluster, (each.value or 0) * 1e150) for each in listed]
    assert p_values(scaled) == p_values(listed)
    assert p_values(listed, seed=Seed(2)) != p_values(listed)


def test_candidates_share_their_flips_so_that_a_twin_costs_nothing() -> None:
    values = [0.9, 0.4, -0.2, 0.7, 0.1, -0.1, 0.5, 0.6]
    alone = p_values(units({"c": values}))["c"]
    assert p_values(units({"c": values, "twin": values, "scaled": [3 * each for each in values]})) == {
        "c": alone,
        "twin": alone,
        "scaled": alone,
    }


def test_another_candidate_makes_a_p_value_no_smaller() -> None:
    normal = np.random.default_rng(8).normal(0.4, 1, size=(4, 15))
    values = {f"c{ix}": row.tolist() for ix, row in enumerate(normal)}
    for name in values:
        assert p_values(units(values))[name] >= p_values(units({name: values[name]}))[name]


def test_a_delta_without_a_bound_is_no_evidence_and_costs_the_others_nothing() -> None:
    values: dict[str, Sequence[float | None]] = {"c": [0.9, 0.4, 0.7, 0.5, 0.2, 0.8]}
    alone = p_values(units(values))["c"]
    results = permutation_results(units({**values, "open": [None, 9.0, 9.0, None, 9.0, 9.0]}), {"threshold": 0}, SEED)
    by_candidate = {each["candidate_id"]: each for each in results}
    assert by_candidate["c"]["p_value"] == alone
    assert (by_candidate["open"]["p_value"], by_candidate["open"]["estimate"]) == (1.0, None)
    assert by_candidate["open"]["reason"] == "cases whose delta could be as bad as anything: 2"


def test_of_several_scopes_the_least_significant_counts() -> None:
    good, bad = [1.0] * 12, [0.1, -0.1] * 6
    both = [*units({"c": good}, "a"), *units({"c": bad}, "b")]
    result = permutation_results(both, {"threshold": 0.0}, SEED)[0]
    assert result["p_value"] == pytest.approx(p_values(units({"c": bad}))["c"], abs=0.2)
    assert result["p_value"] > 0.3
    assert result["estimate"] == pytest.approx(0.0)


def test_no_difference_at_all_is_no_evidence() -> None:
    assert p_values(units({"c": [0.0] * 9})) == {"c": 1.0}
    assert p_values(units({"c": [0.5] * 9}), line=0.5) == {"c": 1.0}


def test_of_candidates_that_are_no_better_few_campaigns_find_one() -> None:
    # 300 campaigns of 5 candidates that share a baseline: at .05 about 15 find one; 27 is three standard errors more.
    generator = np.random.default_rng(11)
    found = 0
    for _ in range(300):
        deltas = generator.normal(size=(5, 20)) - generator.normal(size=20)
        found += min(p_values(units({f"c{ix}": row.tolist() for ix, row in enumerate(deltas)})).values()) <= 0.05
    assert 4 <= found <= 27


def test_signs_are_a_fair_and_independent_coin() -> None:
    listed = np.array([signs(SEED, f"case {ix}") for ix in range(40)])
    assert set(np.unique(listed)) == {-1.0, 1.0}
    # Means and correlations have a standard error of .01.
    assert np.abs(listed.mean(axis=1)).max() < 0.05
    assert np.abs(np.corrcoef(listed) - np.eye(40)).max() < 0.05
