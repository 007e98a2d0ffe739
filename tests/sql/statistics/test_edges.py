"""What a macro gives at the ends of its domain, and that it gives NULL beyond them, never NaN and never an error."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy import stats

from tests.sql.statistics.conftest import Value

NAN, INF = "'nan'::double", "'inf'::double"
UNKNOWN = (
    *(f"{name}({x})" for name in ("normal_cdf", "normal_tail", "normal_quantile") for x in ("null", NAN)),
    *(f"normal_quantile({p})" for p in (0, 1, -0.5, 1.5, INF)),
    *(f"t_tail({t}, {df})" for t, df in ((1, 0), (1, 0.5), (1, "null"), ("null", 3), (NAN, 3), (1, NAN), (1, INF))),
    *(f"t_quantile_at({p}, 5)" for p in (0, 1, "null", NAN, -1)),
    *(f"t_quantile_at(0.9, {df})" for df in (0, -1, "null", NAN, INF)),
    *(f"sign_test_tail({k}, {n})" for k, n in ((1, -1), (0.5, 3), (1, 2.5), ("null", 3), (1, "null"), (NAN, 3))),
    *(f"sign_test_tail(1, {n})" for n in (NAN, INF)),
    *(f"tango_low({each})" for each in ("0, 0, 0, 2", "2, 2, 3, 2", "-1, 0, 3, 2", "1, -1, 3, 2", "1, 0, 3, -2")),
    *(f"tango_low({each})" for each in ("null, 0, 3, 2", "1, 0, 3, null", f"{NAN}, 0, 3, 2", f"1, 0, 3, {NAN}")),
    *(f"tango_high({each})" for each in ("0, 0, 0, 2", "1, 0, null, 2")),
    *(f"constant_low({each})" for each in ("1, null, 5, 0.1", "1, 2, 5, 0.1", "1, 0, 0, 0.1", "1, 0, 5, 0")),
    *(
        f"constant_low({each})"
        for each in ("1, 0, 5, 1", f"{NAN}, 0, 5, 0.1", f"1, {NAN}, 5, 0.1", f"1, 0, {NAN}, 0.1")
    ),
    *(f"t_low({each})" for each in ("1, -1, 5, 0.1", "1, 1, 0, 0.1", "null, 1, 5, 0.1", f"{NAN}, 1, 5, 0.1")),
    *(f"t_high({each})" for each in (f"1, {NAN}, 5, 0.1", f"1, {INF}, 5, 0.1", "1, 1, 5, 0", "1, null, 5, 0.1")),
    *(f"smallest_effect({each})" for each in ("1, 1, 0.1, 0.8", "1, null, 0.1, 0.8", f"{NAN}, 9, 0.1, 0.8")),
    *(f"smallest_effect({each})" for each in ("1, 9, 0, 0.8", "1, 9, 0.1, 1", "-1, 9, 0.1, 0.8")),
    *(
        f"betting_{name.format(sample=sample)}"
        for name in ("log_wealth({sample}, -1, 0, 3)", "low({sample}, -1, 0.1)", "wealth_path({sample}, -1, 0)")
        for sample in ("[]::double[]", "null", "[0.5, null]", f"[{NAN}, 1]", f"[1, {INF}]", "[0.5, -1.01]")
    ),
    *(f"betting_log_wealth([1], {each})" for each in ("0, 0, 1", "0, -1, 1", "null, 0, 1", "-1, null, 1", "-1, 0, 0")),
    *(
        f"betting_log_wealth([1], {each})"
        for each in (f"-1, {NAN}, 1", f"{NAN}, 0, 1", f"-1, 0, {NAN}", f"-1, {INF}, 1")
    ),
    *(f"betting_wealth_path([1], {each})" for each in ("0, 0", "null, 0", "-1, null", f"-1, {NAN}")),
    *(f"betting_low([1], {each})" for each in ("null, 0.1", "-1, 0", "-1, 1", "-1, null", f"-1, {NAN}", f"{NAN}, 0.1")),
)


@pytest.mark.parametrize("expression", UNKNOWN)
def test_what_is_out_of_the_domain_is_unknown(value: Value, expression: str) -> None:
    assert value(expression) is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("normal_cdf(0)", 0.5),
        ("normal_cdf(-40)", 0.0),
        ("normal_cdf(40)", 1.0),
        (f"normal_tail({INF})", 0.0),
        (f"normal_tail(-{INF})", 1.0),
        ("normal_quantile(0.5)", 0.0),
        ("t_tail(0, 3)", 0.5),
        ("t_tail(0, 3000)", 0.5),
        (f"t_tail({INF}, 3)", 0.0),
        (f"t_tail(-{INF}, 3)", 1.0),
        ("t_tail(1e-9, 1)", 0.5 - 1e-9 / math.pi),
        ("t_quantile_at(0.5, 9)", 0.0),
        ("t_quantile_at(0.75, 1)", 1.0),
        ("sign_test_tail(0, 0)", 1.0),
        ("sign_test_tail(1, 0)", 0.0),
        ("sign_test_tail(-3, 9)", 1.0),
        ("sign_test_tail(9, 9)", 2.0**-9),
        ("sign_test_tail(10, 9)", 0.0),
        # Nothing but ties: n |d| = z² (1 - |d|).
        ("tango_low(0, 0, 10, 2)", -4 / 14),
        ("tango_high(0, 0, 10, 2)", 4 / 14),
        ("tango_low(0, 10, 10, 2)", -1.0),
        ("tango_high(10, 0, 10, 2)", 1.0),
        ("tango_low(3, 1, 10, 0)", 0.2),
        ("betting_low([-1, -1], -1, 0.1)", -1.0),
        ("t_low(2, 0, 5, 0.025)", 2.0),
    ],
)
def test_values_at_the_ends(value: Value, expression: str, expected: float) -> None:
    assert value(expression) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_a_tail_of_t_may_have_a_fraction_of_a_degree_of_freedom(value: Value) -> None:
    assert value("t_tail(2.5, 7.3)") == pytest.approx(stats.t.sf(2.5, 7.3), rel=1e-12)


def test_a_far_tail_is_never_negative_and_falls(value: Value) -> None:
    for df in (1, 5, 400, 401, 5000):
        tails = value(f"list_transform(range(200), lambda each: t_tail(each * each, {df}))")
        assert all(here >= further >= 0 for here, further in pairwise(tails))


@pytest.mark.parametrize(("n", "alpha"), [(1, 0.1), (10, 0.025), (400, 0.05)])
def test_the_limit_of_a_constant_leaves_the_chance_alpha_to_miss_every_lower_value(
    value: Value, n: int, alpha: float
) -> None:
    low = value("constant_low(0.75, -1, ?, ?)", n, alpha)
    # Of a mean at the limit, the share (value - low) / (value - lower) of the cases lies at the lower end.
    assert (1 - (0.75 - low) / 1.75) ** n == pytest.approx(alpha, rel=1e-9)
