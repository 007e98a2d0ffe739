from __future__ import annotations

from typing import Any

import duckdb
import pytest
from scipy.stats import t

from opfield.warehouse.locate import sql_folder
from scripts.t_quantiles import PROBABILITIES, expansion_terms, table_text


def test_the_table_is_what_its_script_writes() -> None:
    assert (sql_folder() / "reference" / "t_quantiles.sql").read_text(encoding="utf-8") == table_text()


def test_the_expansion_has_the_terms_that_its_script_derives() -> None:
    text = (sql_folder() / "macros" / "t_quantile.sql").read_text(encoding="utf-8")
    assert all(f"{term!r}e0" in text for term in expansion_terms(0.975))


@pytest.mark.parametrize("df", [1, 2, 30, 200, 201, 500, 9_999, 10**9])
def test_quantiles_equal_scipy(views: duckdb.DuckDBPyConnection, df: Any) -> None:
    query = "select t_quantile(df, quantile) from (select ?::bigint as df) left join t_quantiles using (df)"
    ((found,),) = views.execute(query, [df]).fetchall()
    assert found == pytest.approx(t.ppf(PROBABILITIES["quantile"], df), rel=2e-12)


def test_no_degrees_of_freedom_have_no_quantile(views: duckdb.DuckDBPyConnection) -> None:
    assert views.execute("select t_quantile(0, null::double)").fetchall() == [(None,)]
