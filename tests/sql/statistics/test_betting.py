"""The betting macros: against plain sums, and the guarantee itself by exact enumeration."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.statistics import macros
from tests.sql.statistics.conftest import Value

CON = macros()
SHARES = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.1, 0.3, 0.5, 1.0]) | st.floats(-1, 1), min_size=1, max_size=30)


def asked(expression: str, *arguments: Any) -> Any:
    (row,) = CON.execute(f"select {expression}", list(arguments)).fetchall()
    return row[0]


def stakes_of(n: int) -> np.ndarray:
    return np.geomspace(min(0.7, 3 / math.sqrt(n)), 0.98, 8)


def log_wealth(sample: list[float], lower: float, line: float, stakes: np.ndarray) -> float:
    bets = [math.fsum(math.log1p(each * (x - line) / (line - lower)) for x in sample) for each in stakes]
    top = max(bets)
    return top + math.log(math.fsum(math.exp(each - top) for each in bets) / len(bets))


@settings(deadline=None, max_examples=60)
@given(SHARES, st.floats(-0.95, 0.9), st.integers(1, 2000))
def test_the_wealth_is_the_mean_over_stakes_of_products(sample: list[float], line: float, planned: int) -> None:
    found = asked("betting_log_wealth(?::double[], -1, ?::double, ?)", sample, line, planned)
    assert found == pytest.approx(log_wealth(sample, -1, line, stakes_of(planned)), rel=1e-10, abs=1e-10)


@settings(deadline=None, max_examples=60)
@given(SHARES, st.randoms())
def test_the_order_of_the_values_changes_no_bit(sample: list[float], random: Any) -> None:
    shuffled = random.sample(sample, len(sample))
    for expression in ("betting_log_wealth(?::double[], -1.5, 0.05, 20)", "betting_low(?::double[], -1.5, 0.1)"):
        assert asked(expression, sample) == asked(expression, shuffled)


@pytest.mark.parametrize("line", [-0.5, 0.0, 0.3])
@pytest.mark.parametrize("atoms", [(-1.0, 1.0), (-1.0, 0.25, 4.0), (-0.75, -0.5, 2.0)])
def test_the_expected_wealth_is_one_where_the_mean_is_the_line(line: float, atoms: tuple[float, ...]) -> None:
    """Over every sequence of six values, for two-point distributions about the line, which all others mix."""
    for below, above in product(atoms, atoms):
        if not below < line < above:
            continue
        chance = (line - below) / (above - below)
        expected = 0.0
        for count in range(7):
            sample = [above] * count + [below] * (6 - count)
            wealth = math.exp(asked("betting_log_wealth(?::double[], -1, ?::double, 6)", sample, line))
            expected += math.comb(6, count) * chance**count * (1 - chance) ** (6 - count) * wealth
        assert expected == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.025, 0.1, 0.3])
def test_a_limit_above_the_mean_is_rarer_than_alpha(alpha: float) -> None:
    """By exact enumeration of binary samples; the t limit fails this by far for rare successes."""
    for n, mean in product((5, 30), (0.02, 0.3, 0.5, 0.9, 0.98)):
        missed = math.fsum(
            math.comb(n, count) * mean**count * (1 - mean) ** (n - count)
            for count in range(n + 1)
            if asked("betting_low(?::double[], 0, ?::double)", [1.0] * count + [0.0] * (n - count), alpha) > mean
        )
        assert missed <= alpha


@settings(deadline=None, max_examples=60)
@given(SHARES, st.floats(0.01, 0.5))
def test_the_limit_is_the_last_line_that_is_refuted(sample: list[float], alpha: float) -> None:
    low = asked("betting_low(?::double[], -1, ?::double)", sample, alpha)
    step = (np.mean(sample) + 1) * 2.0**-19
    if low > -1:
        assert log_wealth(sample, -1, low, stakes_of(len(sample))) >= -math.log(alpha) - 1e-9
    if low + step > -1:
        assert log_wealth(sample, -1, low + step, stakes_of(len(sample))) < -math.log(alpha) + 1e-9


@pytest.mark.parametrize("n", [1, 2, 39, 40, 41, 79, 80, 81, 1000])
def test_the_path_is_the_wealth_after_each_value_in_the_list_s_order(n: int) -> None:
    sample = np.random.default_rng(n).choice([-1, -0.2, 0.1, 0.4, 1], n)
    stakes = np.geomspace(0.03, 0.98, 8)
    bets = np.cumsum(np.log1p(stakes[:, None] * (sample + 0.1) / 0.9), axis=1)
    expected = np.log(np.exp(bets - bets.max(axis=0)).mean(axis=0)) + bets.max(axis=0)
    found = asked("betting_wealth_path(?::double[], -1, -0.1)", sample.tolist())
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_path_of_the_first_values_is_the_beginning_of_the_path() -> None:
    sample = np.random.default_rng(3).uniform(-1, 1, 130).tolist()
    whole = asked("betting_wealth_path(?::double[], -1, 0)", sample)
    for n in (1, 40, 90, 129):
        assert asked("betting_wealth_path(?::double[], -1, 0)", sample[:n]) == whole[:n]


def test_wealth_beyond_the_largest_double_stays_a_number() -> None:
    sample = [1e6] * 2000
    assert asked("betting_log_wealth(?::double[], 0, 1, 2000)", sample) > 20_000
    assert asked("betting_wealth_path(?::double[], 0, 1)", sample)[-1] > 20_000
    assert math.isfinite(asked("betting_log_wealth(?::double[], 0, 1, 2000)", [0.0] * 2000))


def test_one_macro_call_over_many_rows_is_the_same_row_by_row(value: Value) -> None:
    query = "(select list(betting_low([x / 9, 0.5, 0.6, 0.7, x / 8], -1, 0.3) order by x) from range(8) as r (x))"
    singly = [value("betting_low([? / 9, 0.5, 0.6, 0.7, ? / 8], -1, 0.3)", x, x) for x in range(8)]
    assert value(query) == singly
