"""Statements run at once on several connections to one database, each after those that it builds on.

One thread binds a statement, whatever it computes; where there are few rows, binding is what takes the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import Final

import duckdb

#: Connections that statements are run on.
_CONNECTIONS: Final = 2
#: Seconds between one interrupt and the next.
_PAUSE_S: Final = 0.02
#: Statements below which another connection costs more than it saves.
_FEW: Final = 8


def run_all(
    con: duckdb.DuckDBPyConnection, statements: Mapping[str, str], after: Mapping[str, Collection[str]]
) -> None:
    """Run statements that create what others of them read.

    Args:
        con: connection to a database that is its own; others to it know its variables while this runs.
        statements: statement by the name of what it creates, each after those that it reads.
        after: names that each reads; those that no statement creates are there already.

    Raises:
        duckdb.Error: where a statement fails; some of the others have run by then.
    """
    if len(statements) < _FEW:
        for statement in statements.values():
            con.execute(statement)
        return
    reads = {name: [each for each in after.get(name, ()) if each in statements] for name in statements}
    chain = _chains(reads)
    order = TopologicalSorter(reads)
    order.prepare()
    with _beside(con) as free, ThreadPoolExecutor(len(free), thread_name_prefix="opfield-binder") as pool:
        waiting: list[str] = []
        running: dict[Future[duckdb.DuckDBPyConnection], tuple[str, duckdb.DuckDBPyConnection]] = {}
        try:
            while order.is_active():
                waiting = sorted([*waiting, *order.get_ready()], key=chain.__getitem__)
                while waiting and free:
                    name, used = waiting.pop(), free.pop()
                    running[pool.submit(used.execute, statements[name])] = name, used
                for ended in wait(running, return_when=FIRST_COMPLETED).done:
                    name, used = running.pop(ended)
                    ended.result()
                    free.append(used)
                    order.done(name)
        except BaseException:
            # An interrupt that comes before a statement is under way is lost, so it is said until all have ended.
            while wait(running, timeout=_PAUSE_S).not_done:
                for _, used in running.values():
                    used.interrupt()
            raise


def _chains(reads: dict[str, list[str]]) -> dict[str, int]:
    """Return how many statements have to follow each, one after the other: the longest chain is begun first."""
    chain = dict.fromkeys(reads, 0)
    for name in reversed(reads):
        for each in reads[name]:
            chain[each] = max(chain[each], chain[name] + 1)
    return chain


@contextmanager
def _beside(con: duckdb.DuckDBPyConnection) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    """Give a connection and others to its database that know its variables; the others are closed afterwards."""
    names = [name for (name,) in con.execute("select name from duckdb_variables()").fetchall()]
    told = con.execute("select " + ", ".join(f"getvariable('{name}')" for name in names)).fetchone() if names else ()
    others = [con.cursor() for _ in range(_CONNECTIONS - 1)]
    try:
        for other in others:
            other.execute("set enable_progress_bar = false")
            for name, value in zip(names, told or (), strict=True):
                other.execute(f"set variable {name} = $1", [value])
        yield [*others, con]
    finally:
        for other in others:
            other.close()
