"""DuckDB that reads one warehouse and nothing else, and, once it has read, no file at all.

A connection goes through two states. While it reads, DuckDB itself refuses every path outside of the warehouse, and
only SELECTs of ours and of the campaign are run. Shut, it has no file system: what was read stands in memory, and
neither a read nor a write, an attached database or an extension is to be had from it any more.
"""

from __future__ import annotations

from pathlib import Path

import duckdb


def connect_reading(root: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to a database of its own, in memory, that reaches files of the warehouse only.

    Args:
        root: warehouse folder, absolute.
    """
    con = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    con.execute("set enable_progress_bar = false")
    con.execute(f"set allowed_directories = [{_quoted(f'{root}/')}]")
    # Names of variables of the process are no tables: only what stands in the database is.
    con.execute("set python_enable_replacements = false")
    con.execute("set enable_external_access = false")
    return con


def shut(con: duckdb.DuckDBPyConnection) -> None:
    """Take the file system from a connection, and the means to get it back."""
    con.execute("set disabled_filesystems = 'LocalFileSystem'")
    con.execute("set lock_configuration = true")


def connect_shut() -> duckdb.DuckDBPyConnection:
    """Return a connection to an empty database in memory that reaches no file."""
    con = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    con.execute("set enable_progress_bar = false")
    con.execute("set python_enable_replacements = false")
    con.execute("set enable_external_access = false")
    shut(con)
    return con


def _quoted(text: str) -> str:
    """Return text as a constant of SQL, where DuckDB takes no parameter."""
    return "'" + text.replace("'", "''") + "'"
