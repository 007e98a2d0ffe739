"""Databases in memory: one that a process shares for what leaves nothing behind, and others of their own.

Opening one takes longer than a small question to it. What a connection creates as temporary is seen by that connection
only, and is gone with it.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import duckdb

_numbers = itertools.count()
_lock = threading.Lock()
_ahead: deque[Future[duckdb.DuckDBPyConnection]] = deque()


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


def open_ahead(count: int) -> None:
    """Begin to open databases on another thread, while this one does something else: each takes some 20 ms.

    Args:
        count: how many there should be; those of an earlier call that nobody took count.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="opfield-opener")
    _ahead.extend(pool.submit(duckdb.connect) for _ in range(count - len(_ahead)))
    pool.shutdown(wait=False)


def connect_own() -> duckdb.DuckDBPyConnection:
    """Return a connection to a new database in memory, one of those that were opened ahead where there is one."""
    try:
        opening = _ahead.popleft()
    except IndexError:
        return duckdb.connect()
    return opening.result()


def _shared() -> duckdb.DuckDBPyConnection:
    with _lock:
        return _opened()


@cache
def _opened() -> duckdb.DuckDBPyConnection:
    return connect_own()
