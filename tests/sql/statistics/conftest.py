"""One connection with every macro, and single values asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

from benchmarks.statistics import macros

Value = Callable[..., Any]


@pytest.fixture(scope="session")
def statistics() -> Iterator[duckdb.DuckDBPyConnection]:
    con = macros()
    yield con
    con.close()


@pytest.fixture
def value(statistics: duckdb.DuckDBPyConnection) -> Value:
    """Evaluate one expression; its question marks stand for the arguments."""

    def of(expression: str, *arguments: Any) -> Any:
        (row,) = statistics.execute(f"select {expression}", list(arguments)).fetchall()
        return row[0]

    return of
