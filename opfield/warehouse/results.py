"""Results of a finished campaign as Parquet: what its views say, for readers that know no SQL.

`results/campaign=<hex>/<relation>.parquet`, and beside them the digests of these files. They follow from the ledger and
carry no meaning of their own: whoever judges reads the views. A campaign's folder appears whole, by one rename.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import duckdb

from opfield.errors import DamageError
from opfield.warehouse.durable import make_folder, storage_error, sync_folder, write_bytes
from opfield.warehouse.layout import partition
from opfield.warehouse.projection import digests_bytes, file_digest, read_digests

#: Folder of a warehouse that holds the results.
RESULTS: Final = "results"
#: Record of the digests of a campaign's result files, among them.
RECORD: Final = "digests.json"


def results_folder(root: Path, campaign_id: str) -> Path:
    """Return where a campaign's results lie; `events` and its like have partitions of the same name."""
    return root / RESULTS / partition(campaign_id)


def has_results(root: Path, campaign_id: str) -> bool:
    """Return whether a campaign's results are laid out, or were."""
    return results_folder(root, campaign_id).exists()


def write_results(root: Path, campaign_id: str, con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    """Lay out relations as a campaign's results, in place of earlier ones; call it under the campaign's lock.

    Args:
        root: warehouse folder.
        campaign_id: a campaign whose history is terminal.
        con: connection that answers for the relations.
        names: the relations.

    Raises:
        WarehouseError: where the files cannot be written; the results are as they were.
    """
    target = results_folder(root, campaign_id)
    prepared, old = _hidden(target)
    sweep_results(root, campaign_id)
    try:
        make_folder(prepared)
        files = {}
        for name in names:
            path = prepared / f"{name}.parquet"
            _copy(con, name, path)
            files[path.name] = file_digest(path)
        write_bytes(prepared / RECORD, digests_bytes(files))
        if target.exists():
            os.replace(target, old)
        os.replace(prepared, target)
        sync_folder(target.parent)
    except (OSError, duckdb.IOException) as error:
        raise storage_error(target, error) from error
    finally:
        sweep_results(root, campaign_id)


def sweep_results(root: Path, campaign_id: str) -> None:
    """Remove what a dead writer left of results that it did not lay out; call it under the campaign's lock."""
    for left in _hidden(results_folder(root, campaign_id)):
        shutil.rmtree(left, ignore_errors=True)


def _hidden(target: Path) -> tuple[Path, Path]:
    """Return under which names results are prepared and old ones removed; no reader's glob matches them."""
    return target.with_name(f".new-{target.name}"), target.with_name(f".old-{target.name}")


def _copy(con: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    quoted = str(path).replace("'", "''")
    con.execute(f"copy ({_query(con, name)}) to '{quoted}' (format parquet, compression zstd)")
    with path.open("rb") as written:
        os.fsync(written.fileno())


def _query(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return the SELECT of a relation's rows in order, with types that Parquet has: a sum of integers stays exact."""
    columns = con.execute(f"describe from {name}").fetchall()
    exact = [f"{column}::decimal(38, 0) as {column}" for column, kind, *_ in columns if kind == "HUGEINT"]
    chosen = f"* replace ({', '.join(exact)})" if exact else "*"
    return f"select {chosen} from {name} order by all"


def are_as_written(root: Path, campaign_id: str, names: Iterable[str]) -> bool:
    """Return whether a campaign's result files are those of these relations, as they were written, and no others."""
    folder = results_folder(root, campaign_id)
    try:
        recorded = recorded_results(root, campaign_id)
        present = {path.name for path in folder.iterdir()}
        return (
            recorded.keys() == {f"{name}.parquet" for name in names}
            and present == {RECORD, *recorded}
            and all(file_digest(folder / name) == digest for name, digest in recorded.items())
        )
    except (DamageError, OSError):
        return False


def recorded_results(root: Path, campaign_id: str) -> Mapping[str, str]:
    """Return the digests of a campaign's result files, by name, as they were recorded.

    Raises:
        DamageError: where the record is gone or was altered.
    """
    path = results_folder(root, campaign_id) / RECORD
    try:
        return read_digests(path)
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}") from None


def differing_results(con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str, names: Iterable[str]) -> list[str]:
    """Return the relations whose result file is not there or does not hold what a connection answers now."""
    folder = results_folder(root, campaign_id)
    return [name for name in names if not _is_equal(con, name, folder / f"{name}.parquet")]


def _is_equal(con: duckdb.DuckDBPyConnection, name: str, path: Path) -> bool:
    quoted = str(path).replace("'", "''")
    kept, now = f"from read_parquet('{quoted}', hive_partitioning = false)", _query(con, name)
    try:
        if _columns(con, kept) != _columns(con, now):
            return False
        differing = f"((select * {kept}) except all ({now})) union all (({now}) except all (select * {kept}))"
        return not con.execute(f"select count(*) from ({differing})").fetchall()[0][0]
    except duckdb.Error:
        return False


def _columns(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind, *_ in con.execute(f"describe {query}").fetchall()]
