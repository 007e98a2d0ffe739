"""One DuckDB database in memory for all that a process asks of it: opening another takes longer than a small question.

What a connection creates as temporary is seen by that connection only, and is gone with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb

_numbers = itertools.count()


def connect_memory() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own to the database that the process shares; only create what is temporary in it."""
    return _shared().cursor()


@contextmanager
def scratch_catalogue() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to an empty catalogue, where tables need not be temporary; it is gone afterwards."""
    name = f"scratch_{next(_numbers)}"
    with connect_memory() as con:
        con.execute(f"attach ':memory:' as {name}")
        con.execute(f"use {name}")
        try:
            yield con
        finally:
            con.execute("use memory")
            con.execute(f"detach {name}")


@cache
def _shared() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()
