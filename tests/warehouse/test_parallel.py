"""Statements that build on each other, run on two connections: as if one had run them in order."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.warehouse.parallel import run_all


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_each_statement_finds_what_it_builds_on(seed: int, count: int) -> None:
    drawn = random.Random(seed)
    reads = {f"t{ix}": [f"t{each}" for each in range(ix) if drawn.random() < 0.2] for ix in range(count)}
    statements = {name: f"create table {name} as select 1 + {added(before)} as n" for name, before in reads.items()}
    expected: dict[str, int] = {}
    for name, before in reads.items():
        expected[name] = 1 + sum(expected[each] for each in before)
    with duckdb.connect() as con:
        run_all(con, statements, reads)
        assert {name: con.execute(f"select n from {name}").fetchall()[0][0] for name in reads} == expected


def added(names: list[str]) -> str:
    """Return the sum of what tables hold, as SQL."""
    return " + ".join([f"(select n from {each})" for each in names] or ["0"])


def test_every_connection_knows_the_variables() -> None:
    statements = {f"t{ix}": f"create table t{ix} as select getvariable('names') as names" for ix in range(40)}
    with duckdb.connect() as con:
        con.execute("set variable names = $1", [["it's", 'a "b"', "ß"]])
        con.execute("set variable other = 3.5")
        run_all(con, statements, {})
        found = {con.execute(f"select names from {name}").fetchall()[0][0][0] for name in statements}
        assert found == {"it's"}


def test_a_statement_that_fails_is_told_and_nothing_that_builds_on_it_runs() -> None:
    statements = {f"t{ix}": f"create table t{ix} as select {ix} as n" for ix in range(20)}
    statements["bad"] = "create table bad as select nothing from t3"
    statements["later"] = "create table later as from bad"
    with duckdb.connect() as con:
        with pytest.raises(duckdb.BinderException, match="nothing"):
            run_all(con, statements, {"bad": ["t3"], "later": ["bad"]})
        names = {name for (name,) in con.execute("select table_name from duckdb_tables()").fetchall()}
        assert not {"bad", "later"} & names


def test_a_failure_does_not_wait_for_a_long_statement() -> None:
    statements = {f"t{ix}": f"create table t{ix} as select {ix} as n" for ix in range(10)}
    statements["long"] = "create table long as select count(*) as n from range(1000000000000)"
    statements["bad"] = "create table bad as select nothing"
    before = time.monotonic()
    with duckdb.connect() as con, pytest.raises(duckdb.Error):
        run_all(con, statements, {})
    assert time.monotonic() - before < 20


def test_an_interrupt_ends_what_runs(monkeypatch: Any) -> None:
    statements: dict[str, str] = {f"t{ix}": "select count(*) from range(1000000000000)" for ix in range(10)}
    before = time.monotonic()
    with duckdb.connect() as con:
        threading.Timer(0.5, con.interrupt).start()
        with pytest.raises(duckdb.InterruptException):
            run_all(con, statements, {})
    assert time.monotonic() - before < 20
    assert not [each for each in threading.enumerate() if each.name.startswith("opfield-binder")]
