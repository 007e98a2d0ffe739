"""The laws of a history as the views state them, for tests of both sides."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pytest

from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event
from tests.sql.build import open_views, write_empty


@pytest.fixture(scope="package")
def in_sql(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Event]], set[str]]:
    """Return which laws the view `violations` says a history breaks."""
    con = duckdb.connect(config={"threads": 1})
    open_views(write_empty(tmp_path_factory.mktemp("empty")), con, ["violations"])

    def violated(events: list[Event]) -> set[str]:
        con.register("told", ledger.as_table(events))
        con.execute("create or replace view events as select * from told")
        return {law for (law,) in con.execute("select distinct law from violations").fetchall()}

    return violated
