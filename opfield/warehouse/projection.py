"""Projections: the tables that a segment yields, by the SQL of the contract (DESIGN §5).

The same segment always yields the same files, so projecting twice is harmless. The digests of a segment's files are
written last: where they stand, the projection is whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import orjson

from opfield.core import canonical_json, digest, parse_json
from opfield.errors import DamageError, IdentityError
from opfield.warehouse import ledger
from opfield.warehouse.columns import table_of
from opfield.warehouse.contract import TableContract, load_contract, projection_query
from opfield.warehouse.durable import replace, write_bytes, write_temporary
from opfield.warehouse.layout import SEAL_PLAN, SEALED, digests_folder, partition, relative, segment_name, table_folder

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import pyarrow as pa

#: Returns the contents of artifacts of the campaign being projected, by id.
ReadArtifacts = Callable[[Collection[str]], dict[str, bytes]]

_ARTIFACT_MEMBERS = {
    ledger.CAMPAIGN_STARTED: ("workload_artifact", "baseline_artifact"),
    ledger.CANDIDATE_REGISTERED: ("artifact_id",),
}


def projected_tables() -> dict[str, TableContract]:
    """Return the contracts of the tables that events project into."""
    return {name: table for name, table in load_contract().items() if table.projection_sql is not None}


def register_segment(con: duckdb.DuckDBPyConnection, events: pa.Table, read_artifacts: ReadArtifacts) -> None:
    """Offer a segment to projections as `segment`, and the artifacts it names as `segment_artifacts`."""
    import pyarrow as pa

    con.register("segment", events)
    needed: set[str] = set()
    payloads = events["payload"]
    # Not by Arrow's own functions: loading them takes as long as projecting a segment.
    for ix, kind in enumerate(events["type"].to_pylist()):
        if kind in _ARTIFACT_MEMBERS:
            told = orjson.loads(payloads[ix].as_py())
            needed.update(told[member] for member in _ARTIFACT_MEMBERS[kind])
    found = read_artifacts(needed) if needed else {}
    con.register(
        "segment_artifacts",
        table_of(
            {"artifact_id": list(found), "content": list(found.values())},
            pa.schema([("artifact_id", pa.string()), ("content", pa.binary())]),
        ),
    )


def project(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    campaign_id: str,
    first_sequence: int,
    events: pa.Table,
    read_artifacts: ReadArtifacts,
    retained: Mapping[str, str],
) -> None:
    """Write the projections of one segment, then the digests of its files and of the artifacts `retained` for it."""
    name = segment_name(first_sequence)
    register_segment(con, events, read_artifacts)
    types = set(events["type"].to_pylist())
    files = [table_folder(root, "events", campaign_id) / name]
    for table, contract in projected_tables().items():
        if types & contract.event_types:
            target = table_folder(root, table, campaign_id) / name
            copy_query(con, projection_query(contract), target)
            files.append(target)
    record_digests(
        root, campaign_id, first_sequence, {**retained, **{relative(root, path): file_digest(path) for path in files}}
    )


def copy_query(con: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    """Write a query's rows, in its order, as one Parquet file, replacing what stood there."""

    def fill(temporary: Path) -> None:
        quoted = str(temporary).replace("'", "''")
        con.execute(f"copy ({query}) to '{quoted}' (format parquet, compression zstd)")

    replace(write_temporary(target.parent, fill), target)


def record_digests(root: Path, campaign_id: str, first_sequence: int, files: Mapping[str, str]) -> None:
    """Record the digests of the files of one segment."""
    write_bytes(_digests_path(root, campaign_id, first_sequence), digests_bytes(files))


def digests_bytes(files: Mapping[str, str]) -> bytes:
    """Return the record of files' digests, with a digest of its own."""
    told = {"files": dict(files)}
    return canonical_json({**told, "digest": digest("opfield/files/v1", canonical_json(told))}) + b"\n"


def read_digests(path: Path) -> dict[str, str]:
    """Return the digests by file that a record holds.

    Raises:
        DamageError: where the record was altered.
    """
    content = path.read_bytes()
    try:
        files = {str(name): str(value) for name, value in parse_json(content)["files"].items()}
    except (IdentityError, KeyError, TypeError, AttributeError):
        raise DamageError(f"{path} is no record of file digests any more") from None
    if content != digests_bytes(files):
        raise DamageError(f"{path} was altered after it was written")
    return files


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def catch_up(con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str, read_artifacts: ReadArtifacts) -> list[Path]:
    """Project every segment whose projection is not as it was written, and return those segments; for the writer only.

    Raises:
        DamageError: where a sealed campaign's record of digests is gone, so that nothing could be told from its files.
    """
    behind: list[Path] = []
    folder = digests_folder(root, campaign_id)
    if (folder / SEALED).exists() or (folder / SEAL_PLAN).exists():
        return behind
    if any(table_folder(root, "cells", campaign_id).glob("sealed-*.parquet")):
        raise DamageError(
            f"campaign {campaign_id[:19]}… is sealed, but its record {relative(root, folder / SEALED)} is gone; put it "
            "back from a copy of the warehouse: every other file still stands"
        )
    for path in ledger.segments(root, campaign_id):
        first = int(path.stem)
        try:
            recorded = read_digests(_digests_path(root, campaign_id, first))
        except (FileNotFoundError, DamageError):
            recorded = {}
        retained = {name: value for name, value in recorded.items() if name.startswith("artifacts/")}
        projected = recorded.keys() - retained.keys() - {relative(root, path)}
        if not recorded or any(not _is_as_written(root / name, recorded[name]) for name in projected):
            project(con, root, campaign_id, first, ledger.read_table(path, "events"), read_artifacts, retained)
            behind.append(path)
    return behind


def _is_as_written(path: Path, digest: str) -> bool:
    try:
        return file_digest(path) == digest
    except OSError:
        return False


def _digests_path(root: Path, campaign_id: str, first_sequence: int) -> Path:
    return digests_folder(root, campaign_id) / f"{first_sequence:012d}.json"


def campaigns_on_disk(root: Path) -> list[str]:
    """Return the ids of the campaigns that have a folder in the ledger, sorted."""
    found = []
    for folder in (root / "events").glob("campaign=*"):
        campaign_id = "sha256:" + folder.name.removeprefix("campaign=")
        if len(folder.name) == len("campaign=") + 64 and folder.name == partition(campaign_id):
            found.append(campaign_id)
    return sorted(found)
