"""Each macro against an oracle that shares no formula with it, on generated grids."""

from __future__ import annotations

import duckdb
import pytest

from benchmarks.statistics import CHECKS, Check, errors
from opfield.warehouse.locate import sql_folder


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.expression} {check.told}")
def test_errors_stay_below_their_bounds(statistics: duckdb.DuckDBPyConnection, check: Check) -> None:
    absolute, relative = errors(statistics, check)
    assert absolute <= check.absolute  # NaN, where the macro gives NULL, is not
    assert relative <= check.relative


def test_the_quantile_at_975_is_the_tabulated_one(statistics: duckdb.DuckDBPyConnection) -> None:
    table = (sql_folder() / "reference" / "t_quantiles.sql").read_text(encoding="utf-8")
    query = f"select max(abs(t_quantile_at(0.975, df) - quantile)), count(*) from ({table})"
    worst, rows = statistics.execute(query).fetchall()[0]
    assert rows == 200
    assert worst < 1e-9


def test_the_quantile_at_975_is_the_expanded_one_beyond_the_table(statistics: duckdb.DuckDBPyConnection) -> None:
    query = (
        "select max(abs(t_quantile_at(0.975, df) - t_quantile(df, null::double))) "
        "from (values (201), (400), (401), (10000), (1000000000)) as listed (df)"
    )
    assert statistics.execute(query).fetchall()[0][0] < 1e-9


def test_names_of_columns_are_not_taken_for_those_inside_of_a_macro(statistics: duckdb.DuckDBPyConnection) -> None:
    query = (
        "select t_quantile_at(given, asked), t_tail(given.given, asked), tango_low(step, bracket, asked, w), "
        "normal_tail(at_x), normal_quantile(chance), sign_test_tail(step, asked) "
        "from (select 0.9 as given, 7 as asked, 3 as step, 2 as bracket, 1.5 as w, 0.3 as at_x, 0.2 as chance) as given"
    )
    plain = (
        "select t_quantile_at(0.9, 7), t_tail(0.9, 7), tango_low(3, 2, 7, 1.5), "
        "normal_tail(0.3), normal_quantile(0.2), sign_test_tail(3, 7)"
    )
    assert statistics.execute(query).fetchall() == statistics.execute(plain).fetchall()
