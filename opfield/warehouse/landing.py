"""Landing practice records: envelopes become one file of the boundary's own ledger, and rows of its tables.

A landing is published as one file, put-if-absent, under a lock; from there on it stands. The tables' files follow from
it by the SQL of the contract: the same landing always yields the same files, so that the next writer projects again
what a dead one left. Nothing lands twice: a row whose key stands already is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import duckdb

from opfield.core import digest
from opfield.errors import HeldError, LostRaceError
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, load_practice_contract, projection_query
from opfield.warehouse.durable import publish_new, sweep, write_bytes, write_temporary
from opfield.warehouse.layout import LANDINGS, PRACTICE, practice_folder, relative, segment_name
from opfield.warehouse.lock import hold, holder_of
from opfield.warehouse.practice_tables import file_list, listed_queries
from opfield.warehouse.projection import copy_query, digests_bytes, file_digest
from opfield.warehouse.views import installed_views

#: What the lock of the boundary's tables is named after; the lock of a campaign bears the campaign's id.
PRACTICE_LOCK: Final = digest("opfield/practice-lock/v1")

#: How long a writer waits for another one, in seconds; a landing takes far less.
PATIENCE_S: Final = 60.0

#: What admissions are decided by.
_DECIDING: Final = ("admission_checks",)


@dataclass(frozen=True, slots=True)
class Envelope:
    """An envelope that is to land.

    Attributes:
        schema: what the payload means.
        payload: canonical JSON of the record.
        digest: digest of schema and payload.
        is_valid: whether the record is well-formed and bears the identity of its content.
        run_digest: for an outcome, digest of the run's envelope; None where no run was found.
        operator_result_digest: for an outcome, digest of the operator result's envelope.
    """

    schema: str
    payload: str
    digest: str
    is_valid: bool
    run_digest: str | None = None
    operator_result_digest: str | None = None


class Landing:
    """One landing under way: what stands and what is new, as tables and views of one connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection, number: int) -> None:
        self.con = con
        self.number = number
        self._position = 0

    def add(self, envelopes: Sequence[Envelope]) -> None:
        """Add what is new among the envelopes."""
        import pyarrow as pa

        rows = {
            each.name: pa.array(
                [getattr(envelope, each.name) for envelope in envelopes],
                pa.bool_() if each.name == "is_valid" else pa.string(),
            )
            for each in fields(Envelope)
        }
        positions = range(self._position, self._position + len(envelopes))
        self._position += len(envelopes)
        self.con.register("handed", pa.table({"position": pa.array(positions, pa.int32()), **rows}))
        self.con.execute(f"create or replace temp table landed as select {self.number} as landing, * from handed")
        for table, contract in load_practice_contract().items():
            self.con.execute(
                f"insert into fresh.{table} by name from ({projection_query(contract)}) as new "
                f"anti join {table} using (row_key) "
                "qualify row_number() over (partition by row_key order by position) = 1"
            )
            self.con.execute(
                "insert into fresh.landed by name from landed "
                f"semi join (select position from fresh.{table}) as new using (position) "
            )
        self.con.unregister("handed")

    def count(self) -> int:
        """Return how many envelopes are new."""
        (count,) = self.con.execute("select count(*) from fresh.landed").fetchall()[0]
        return int(count)


@contextmanager
def open_landing(root: Path) -> Iterator[Landing]:
    """Open a landing for writing; what was added is published when the block ends without an error.

    Raises:
        HeldError: where another process keeps writing.
        WarehouseError: where a file cannot be written; what landed before is safe.
    """
    with _held(root), closing(duckdb.connect()) as con:
        con.execute("set enable_progress_bar = false")
        numbers = _recovered(root, con)
        landing = Landing(con, (numbers[-1] if numbers else 0) + 1)
        _prepare(root, con)
        yield landing
        if landing.count():
            _publish(root, con, landing.number)


def landing_numbers(root: Path) -> list[int]:
    """Return the numbers of the landings, in order."""
    return sorted(int(path.stem) for path in (root / PRACTICE / LANDINGS).glob("[0-9]" * 12 + ".parquet"))


def landing_record(root: Path, number: int) -> Path:
    """Return where the digests of a landing's files are recorded."""
    return root / PRACTICE / "digests" / f"{number:012d}.json"


def landed_query(root: Path, number: int) -> str:
    """Return the SELECT of what landed, as projections read it."""
    return f"from read_parquet({file_list([landing_file(root, number)])}, hive_partitioning = false)"


def landing_file(root: Path, number: int) -> Path:
    """Return the file that a landing is published as."""
    return root / PRACTICE / LANDINGS / segment_name(number)


@contextmanager
def _held(root: Path) -> Iterator[None]:
    """Hold the lock of the boundary's tables, waiting for another writer."""
    until = time.monotonic() + PATIENCE_S
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(hold(root, PRACTICE_LOCK))
                break
            except HeldError:
                if time.monotonic() > until:
                    holder = holder_of(root, PRACTICE_LOCK) or "another process"
                    raise HeldError(
                        f"bindings are being landed by {holder}; wait until it ends, or stop it there with Ctrl-C, "
                        "then try again"
                    ) from None
        yield


def _recovered(root: Path, con: duckdb.DuckDBPyConnection) -> list[int]:
    """Project again what a dead writer left, and return the numbers of the landings."""
    for folder in (*PRACTICE_TABLE_NAMES, LANDINGS, "digests"):
        sweep(root / PRACTICE / folder)
    numbers = landing_numbers(root)
    for number in numbers:
        if not landing_record(root, number).exists():
            _project(root, con, number)
    return numbers


def _prepare(root: Path, con: duckdb.DuckDBPyConnection) -> None:
    """Give the connection the tables of what is new, and the tables and views of that beside what stands."""
    con.execute("attach ':memory:' as fresh")
    con.execute("use fresh")
    for contract in load_practice_contract().values():
        con.execute(contract.ddl[0])
    con.execute(
        "create table landed (landing integer, position integer, schema varchar, payload varchar, digest varchar, "
        "is_valid boolean, run_digest varchar, operator_result_digest varchar)"
    )
    con.execute("use memory")
    for table, query in listed_queries(root, PRACTICE_TABLE_NAMES).items():
        con.execute(f"create view {table} as ({query}) union all by name from fresh.{table}")
    views = installed_views()
    for name in views.ordered(views.closure(_DECIDING)):
        con.execute(f"create view {name} as {views.named[name].sql}")


def _publish(root: Path, con: duckdb.DuckDBPyConnection, number: int) -> None:
    target = landing_file(root, number)

    def fill(temporary: Path) -> None:
        quoted = str(temporary).replace("'", "''")
        con.execute(f"copy (from fresh.landed order by position) to '{quoted}' (format parquet, compression zstd)")

    if not publish_new(write_temporary(target.parent, fill), target):
        raise LostRaceError(f"another writer published landing {number} first; try again")
    _project(root, con, number)


def _project(root: Path, con: duckdb.DuckDBPyConnection, number: int) -> None:
    """Write the tables' files of a landing, then the digests of all its files."""
    files = [landing_file(root, number)]
    con.execute(f"create or replace temp table landed as {landed_query(root, number)}")
    for table, contract in load_practice_contract().items():
        query = projection_query(contract)
        (count,) = con.execute(f"select count(*) from ({query})").fetchall()[0]
        if count:
            files.append(practice_folder(root, table) / segment_name(number))
            copy_query(con, f"from ({query}) order by position", files[-1])
    digests = {relative(root, path): file_digest(path) for path in files}
    write_bytes(landing_record(root, number), digests_bytes(digests))
