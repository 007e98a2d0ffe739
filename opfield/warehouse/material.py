"""The table `artifacts` on disk: files named by their own digest, written before the events that name their rows."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from opfield.errors import UnknownNameError
from opfield.warehouse.artifacts import Artifact, read_content
from opfield.warehouse.columns import table_of
from opfield.warehouse.contract import arrow_schema
from opfield.warehouse.durable import write_bytes_once
from opfield.warehouse.layout import FIRST, table_folder
from opfield.warehouse.ledger import read_table, write_parquet


def write_artifacts(root: Path, campaign_id: str, artifacts: Iterable[Artifact]) -> Path:
    """Write rows of the table `artifacts` as one file, named by the digest of its bytes, and return its path."""
    schema = arrow_schema("artifacts")
    rows = sorted(artifacts, key=lambda artifact: artifact.artifact_id)
    columns = {
        name: [campaign_id] * len(rows) if name == "campaign_id" else [getattr(row, name) for row in rows]
        for name in schema.names
    }
    buffer = io.BytesIO()
    write_parquet(table_of(columns, schema), buffer)
    content = buffer.getvalue()
    target = table_folder(root, "artifacts", campaign_id) / f"{hashlib.sha256(content).hexdigest()}.parquet"
    write_bytes_once(target, content)
    return target


def artifact_files(root: Path, campaign_id: str) -> list[Path]:
    """Return the files of a campaign's artifacts."""
    folder = table_folder(root, "artifacts", campaign_id)
    return sorted(path for path in folder.glob("*.parquet") if path.name != FIRST)


def read_artifacts(path: Path) -> Iterator[Artifact]:
    """Yield the artifacts in one file, unverified.

    Raises:
        DamageError: where the file is no whole one of artifacts.
    """
    names = [each.name for each in fields(Artifact)]
    yield from (Artifact(**row) for row in read_table(path, "artifacts", names).to_pylist())


def artifact_ids(root: Path, campaign_id: str) -> set[str]:
    """Return the ids of the artifacts that a campaign retained."""
    found: set[str] = set()
    for path in artifact_files(root, campaign_id):
        found.update(read_table(path, "artifacts", ["artifact_id"]).column("artifact_id").to_pylist())
    return found


def find_artifact(root: Path, campaign_id: str, artifact_id: str) -> bytes:
    """Return the verified content of one artifact of a campaign.

    Raises:
        UnknownNameError: where the campaign retained no such artifact.
        WarehouseError: where its content is gone or altered.
    """
    return find_artifacts(root, campaign_id, [artifact_id])[artifact_id]


def find_artifacts(root: Path, campaign_id: str, artifact_ids: Collection[str]) -> dict[str, bytes]:
    """Return the verified contents of some artifacts of a campaign, by id.

    Raises:
        UnknownNameError: where the campaign did not retain one of them.
        WarehouseError: where the content of one is gone or altered.
    """
    wanted = set(artifact_ids)
    found: dict[str, bytes] = {}
    for path in artifact_files(root, campaign_id):
        if not wanted:
            break
        if wanted.isdisjoint(read_table(path, "artifacts", ["artifact_id"]).column("artifact_id").to_pylist()):
            continue
        for artifact in read_artifacts(path):
            if artifact.artifact_id in wanted:
                wanted.remove(artifact.artifact_id)
                found[artifact.artifact_id] = read_content(root, artifact)
    if wanted:
        raise UnknownNameError(f"campaign {campaign_id[:19]}… retained no artifact {min(wanted)}")
    return found
