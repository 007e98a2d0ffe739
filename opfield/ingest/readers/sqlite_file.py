"""SQLite files of other tools: recognized by their tables, and read from a copy, so that nothing is written to them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from opfield.ingest.files import first_bytes, open_file
from opfield.ingest.records import IngestError, Source

_MAGIC: Final = b"SQLite format 3\0"
#: Files beside a database that hold what is not in it yet: SQLite takes them up when it opens the copy.
_BESIDE: Final = ("-wal", "-journal")


def is_sqlite(path: Path) -> bool:
    """Return whether a file begins as SQLite databases do."""
    return first_bytes(path, len(_MAGIC)) == _MAGIC


def tables(path: Path) -> frozenset[str]:
    """Return the names of a database's tables; none where it cannot be read. Nothing is written, no lock is taken."""
    if not is_sqlite(path):
        return frozenset()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as con:
            return _tables(con)
    except sqlite3.Error:
        return frozenset()


@contextmanager
def copied(source: Source, needed: frozenset[str], tool: str) -> Iterator[Path]:
    """Give a copy of a database that may be written to, and remove it afterwards.

    Args:
        source: the database.
        needed: tables that it must have to be one of the tool's.
        tool: name of the tool, for messages.

    Raises:
        IngestError: where it cannot be read, is damaged, or is of another tool.
    """
    with tempfile.TemporaryDirectory(prefix="opfield-") as folder:
        copy = Path(folder, "copy.db")
        open_file(source).close()
        try:
            shutil.copyfile(source.path, copy)
            for suffix in _BESIDE:
                beside = source.path.with_name(source.path.name + suffix)
                if beside.is_file():
                    shutil.copyfile(beside, copy.with_name(copy.name + suffix))
        except OSError as error:
            raise IngestError(f"{source.name} cannot be copied for reading: {error.strerror}; mend that") from None
        try:
            with closing(sqlite3.connect(copy)) as con:
                found = _tables(con)
                told = con.execute("pragma quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            raise _damaged(source, error) from None
        if told != "ok":
            raise _damaged(source, told)
        if not needed <= found:
            held = ", ".join(sorted(found)[:5]) or "no tables"
            raise IngestError(f"{source.name} is a database, but not of {tool}: it holds {held}; leave it out")
        yield copy


def _tables(con: sqlite3.Connection) -> frozenset[str]:
    return frozenset(str(name) for (name,) in con.execute("select name from sqlite_master where type = 'table'"))


def _damaged(source: Source, why: object) -> IngestError:
    told = " ".join(str(why).split())[:200]
    return IngestError(f"{source.name} is a damaged or cut-off SQLite file ({told}); copy it again")
