"""Errors of the statistics that are SQL macros, against SciPy, exact sums and root finding.

    python -m benchmarks.statistics

Each check evaluates one macro on a grid in one query and compares with an oracle that shares no formula with it. The
relative error is taken where the oracle is above the smallest value that the macro promises digits for. The tests hold
each error below its bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from opfield.warehouse.views import load_views

Floats = NDArray[np.float64]
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Check:
    """One macro on one grid.

    Attributes:
        expression: what is evaluated, over the names of the grid's columns.
        grid: the points, by column.
        told: the grid in words.
        oracle: the true values, from the same columns.
        by: what the oracle is, in words.
        absolute: bound of the absolute error; infinite where none is promised.
        relative: bound of the relative error; infinite where none is promised.
        floor: smallest true value at which the relative error counts.
    """

    expression: str
    grid: Mapping[str, Floats]
    told: str
    oracle: Callable[..., Any]
    by: str
    absolute: float = math.inf
    relative: float = math.inf
    floor: float = 0.0


def macros() -> duckdb.DuckDBPyConnection:
    """Return a connection with every macro of the package."""
    con = duckdb.connect(config={"threads": 2})
    for relation in load_views().relations.values():
        if relation.is_macro:
            con.execute(relation.sql)
    return con


def evaluate(con: duckdb.DuckDBPyConnection, expression: str, grid: Mapping[str, Floats]) -> Floats:
    """Return the value of an expression at each point of a grid, NaN where it is NULL."""
    con.register("grid", pa.table({name: np.asarray(column) for name, column in grid.items()}))
    column = con.execute(f"select ({expression})::double as found from grid").fetchnumpy()["found"]
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def errors(con: duckdb.DuckDBPyConnection, check: Check) -> tuple[float, float]:
    """Return the worst absolute and relative error; NaN where the macro gave NULL anywhere."""
    found = evaluate(con, check.expression, check.grid)
    true = np.asarray(check.oracle(**check.grid), dtype=np.float64)
    difference = np.abs(found - true)
    counted = np.abs(true) > check.floor
    return float(difference.max()), float((difference[counted] / np.abs(true[counted])).max())


def crossed(**axes: Floats) -> dict[str, Floats]:
    """Return the points of all combinations."""
    points = np.array(list(product(*axes.values())), dtype=np.float64)
    return {name: points[:, ix] for ix, name in enumerate(axes)}


def heads(k: Floats, n: Floats) -> Floats:
    """Return P(X >= k) of n tosses, by exact sums of whole numbers up to 400 tosses and by SciPy above."""
    return np.array(
        [
            sum(math.comb(int(b), heads) for heads in range(max(int(a), 0), int(b) + 1)) / 2 ** int(b)
            if b <= 400
            else stats.binom.sf(a - 1, b, 0.5)
            for a, b in zip(k, n, strict=True)
        ]
    )


def score_limit(gains: float, losses: float, n: float, z: float) -> float:
    """Return Tango's lower limit; the loss rate maximizes the likelihood by root finding, not by the quadratic."""

    def loss_rate(difference: float) -> float:
        lowest, highest = max(0.0, -difference), (1 - difference) / 2
        ties = n - gains - losses

        def slope(q: float) -> float:  # of the log likelihood times its denominators
            rest = 1 - difference - 2 * q
            return gains * q * rest + losses * (q + difference) * rest - 2 * ties * q * (q + difference)

        # Inside of its ends the slope falls through 0 once; at a degenerate end it only touches 0.
        low, high = lowest + 1e-15, highest - 1e-15
        if low >= high or slope(low) <= 0:
            return lowest
        return highest if slope(high) >= 0 else float(brentq(slope, low, high, xtol=1e-16))

    def excess(difference: float) -> float:
        variance = n * (2 * loss_rate(difference) + difference * (1 - difference))
        return gains - losses - n * difference - z * math.sqrt(max(variance, 0.0))

    estimate = (gains - losses) / n
    if estimate == -1:
        return -1.0
    # With z above 0 the excess is negative just below the estimate.
    return float(brentq(excess, -1.0, estimate - 1e-9, xtol=1e-15))


def score_limits(gains: Floats, losses: Floats, n: Floats) -> Floats:
    return np.array([score_limit(*each, Z) for each in zip(gains, losses, n, strict=True)])


def _counts() -> dict[str, Floats]:
    sizes = (1, 2, 5, 12, 76, 1000)
    points = [
        (gains, losses, n)
        for n in sizes
        for gains in sorted({0, 1, n // 7, n // 3, n})
        for losses in sorted({0, 1, n // 5, n // 2, n})
        if gains + losses <= n
    ]
    gains, losses, n = np.array(points, dtype=np.float64).T
    return {"gains": gains, "losses": losses, "n": n}


def _tosses() -> dict[str, Floats]:
    points = [
        (k, n)
        for n in (0, 1, 2, 3, 10, 51, 300, 400, 1100, 1101, 20_000, 100_000)
        for k in sorted({*np.linspace(0, n + 1, 60).astype(int), *range(max(n // 2 - 9, 0), min(n // 2 + 9, n + 1))})
    ]
    k, n = np.array(points, dtype=np.float64).T
    return {"k": k, "n": n}


_CHANCES = np.concatenate([np.geomspace(1.1e-8, 0.49, 150), 1 - np.geomspace(1.1e-8, 0.49, 150)])
_SMALL = np.array([1, 2, 3, 4, 5, 7, 10, 20, 39, 40, 41, 50, 100, 200, 399, 400], dtype=np.float64)
_LARGE = np.array([401, 500, 1000, 10_000, 100_000, 1e7], dtype=np.float64)
_T = np.concatenate([np.linspace(-12, 12, 481), [1e-4, 1.7320508, 1.7320509, 20, 50]])

CHECKS = (
    Check(
        "normal_cdf(x)", {"x": np.linspace(-38, 38, 7601)}, "-38…38", lambda x: stats.norm.cdf(x), "scipy norm",
        absolute=1e-15,
    ),
    Check(
        "normal_tail(x)", {"x": np.linspace(-8, 30, 7601)}, "-8…30", lambda x: stats.norm.sf(x), "scipy norm",
        absolute=1e-15, relative=1e-9,
    ),
    Check(
        "normal_quantile(p)",
        {"p": np.concatenate([np.geomspace(1e-10, 0.5, 2000), 1 - np.geomspace(1e-10, 0.5, 2000)])},
        "1e-10…1 - 1e-10", lambda p: stats.norm.ppf(p), "scipy norm", absolute=1e-12,
    ),
    Check(
        "t_tail(t, df)", crossed(t=_T, df=_SMALL), "±12, 20, 50 × df 1…400", lambda t, df: stats.t.sf(t, df),
        "scipy t", absolute=1e-13, relative=1e-6, floor=1e-12,
    ),
    Check(
        "t_tail(t, df)", crossed(t=_T, df=_LARGE), "±12, 20, 50 × df 401…1e7", lambda t, df: stats.t.sf(t, df),
        "scipy t", absolute=2e-15, relative=1e-6, floor=1e-12,
    ),
    Check(
        "t_quantile_at(p, df)", crossed(p=_CHANCES, df=_SMALL), "1e-8…1 - 1e-8 × df 1…400",
        lambda p, df: stats.t.ppf(p, df), "scipy t", relative=1e-9,
    ),
    Check(
        "t_quantile_at(p, df)", crossed(p=_CHANCES, df=_LARGE), "1e-8…1 - 1e-8 × df 401…1e7",
        lambda p, df: stats.t.ppf(p, df), "scipy t", relative=1e-9,
    ),
    Check(
        "sign_test_tail(k, n)", _tosses(), "0…n + 1 × n 0…100,000", heads, "exact sums, scipy binom",
        relative=1e-10, floor=1e-290,
    ),
    Check(
        f"tango_low(gains, losses, n, {Z})", _counts(), "counts × n 1…1000", score_limits, "nested brentq",
        absolute=1e-10,
    ),
    Check(
        f"tango_high(gains, losses, n, {Z})", _counts(), "counts × n 1…1000",
        lambda gains, losses, n: -score_limits(losses, gains, n), "nested brentq", absolute=1e-10,
    ),
    Check(
        "t_low(mean, se, df, alpha)",
        crossed(mean=np.array([-2, 0, 0.3]), se=np.array([0, 0.1, 4]), df=_SMALL, alpha=np.array([1e-4, 0.025, 0.5])),
        "3 means × 3 errors × df × 3 levels", lambda mean, se, df, alpha: mean - stats.t.isf(alpha, df) * se,
        "scipy t", absolute=1e-8,
    ),
    Check(
        "t_high(mean, se, df, alpha)",
        crossed(mean=np.array([-2, 0, 0.3]), se=np.array([0, 0.1, 4]), df=_SMALL, alpha=np.array([1e-4, 0.025, 0.5])),
        "3 means × 3 errors × df × 3 levels", lambda mean, se, df, alpha: mean + stats.t.isf(alpha, df) * se,
        "scipy t", absolute=1e-8,
    ),
    Check(
        "smallest_effect(se, units, alpha, power)",
        crossed(se=np.array([0.1, 3]), units=_SMALL + 1, alpha=np.array([0.001, 0.025]), power=np.array([0.5, 0.8])),
        "2 errors × units × 2 levels × 2 powers",
        lambda se, units, alpha, power: (stats.t.isf(alpha, units - 1) + stats.t.ppf(power, units - 1)) * se,
        "scipy t", relative=1e-9,
    ),
)  # fmt: skip


def main() -> None:
    con = macros()
    print(f"{'macro':<42}{'grid':<36}{'absolute':>10}{'relative':>10}  oracle")
    for check in CHECKS:
        absolute, relative = errors(con, check)
        print(f"{check.expression:<42}{check.told:<36}{absolute:10.1e}{relative:10.1e}  {check.by}")


if __name__ == "__main__":
    main()
