"""Verifying files: every file of a warehouse is either known by a digest, or outside meaning (DESIGN §5, §E.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opfield.errors import OpfieldError, WarehouseError
from opfield.warehouse.artifacts import read_content
from opfield.warehouse.contract import TABLE_NAMES
from opfield.warehouse.durable import TEMPORARY
from opfield.warehouse.layout import (
    EMPTY,
    FIRST,
    MARKER,
    NO_CAMPAIGN,
    SEALED,
    digests_folder,
    partition,
    relative,
)
from opfield.warehouse.material import artifact_files, read_artifacts
from opfield.warehouse.projection import file_digest, read_digests
from opfield.warehouse.store import read_marker

#: Folders whose files carry no meaning: disposable, or operational records with sums of their own.
OUTSIDE_MEANING: Final = {
    "locks": "who is writing; the lock is the kernel's, not the file's",
    "checkpoints": "disposable; checked against itself and the ledger before use",
    "attempts": "operational record; each line carries its own sum",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written.

    Attributes:
        file: path below the warehouse.
        law: what is broken, in a word.
        detail: what stood there, in words.
    """

    file: str
    law: str
    detail: str

    def as_json(self) -> dict[str, str]:
        """Return the finding as a row."""
        return {"file": self.file, "law": self.law, "detail": self.detail}


def check_shared_files(root: Path) -> Iterator[Finding]:
    """Check the files that every warehouse has: its contract, its views, its zero-row files."""
    try:
        files = read_marker(root)
    except WarehouseError as error:
        yield Finding(MARKER, "marker", str(error))
        return
    for name, expected in files.items():
        yield from _check_digest(root, name, expected)


def check_campaign_files(root: Path, campaign_id: str) -> Iterator[Finding]:
    """Check a campaign's files against the digests recorded when they were written, and against what should be there."""
    recorded: dict[str, str] = {}
    folder = digests_folder(root, campaign_id)
    for record in sorted(folder.glob("*.json")):
        if record.name.startswith("seal-plan"):
            yield Finding(
                relative(root, record), "seal", "a seal was interrupted; `opfield seal` finishes it"
            )
            continue
        try:
            recorded.update(read_digests(record))
        except OpfieldError as error:
            yield Finding(relative(root, record), "digests", str(error))
    for name, expected in sorted(recorded.items()):
        yield from _check_digest(root, name, expected)
    is_sealed = (folder / SEALED).exists()
    for table in TABLE_NAMES:
        for path in sorted((root / table / partition(campaign_id)).glob("*")):
            name = relative(root, path)
            if path.name.startswith(TEMPORARY) or name in recorded:
                continue
            if path.name == FIRST:
                yield from _check_zero_rows(root, table, path)
            elif table == "artifacts":
                yield from _check_self_named(root, path)
            elif table == "events" and not is_sealed:
                yield Finding(name, "projection", "not projected yet; the next `opfield resume` catches up")
            else:
                yield Finding(name, "unexpected", "no record names this file; remove it, or put back its record")


def check_artifacts(root: Path, campaign_id: str) -> Iterator[Finding]:
    """Check that every retained artifact holds what its identity names."""
    for path in artifact_files(root, campaign_id):
        try:
            for artifact in read_artifacts(path):
                if artifact.content is None and artifact.location is None:
                    continue
                try:
                    read_content(root, artifact)
                except OpfieldError as error:
                    yield Finding(artifact.location or relative(root, path), "artifact", str(error))
        except OpfieldError as error:
            yield Finding(relative(root, path), "unreadable", str(error))


def check_strays(root: Path) -> Iterator[Finding]:
    """Check that nothing stands in the warehouse that no opfield put there."""
    known = {*TABLE_NAMES, "digests", "blobs", *OUTSIDE_MEANING}
    tops = {MARKER, "open.sql", *(f"{name}.sql" for name in TABLE_NAMES)}
    partition_name = re.compile(r"campaign=([0-9a-f]{64}|none)")
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name in TABLE_NAMES:
            for folder in sorted(path.iterdir()):
                if not folder.is_dir() or not partition_name.fullmatch(folder.name):
                    yield Finding(relative(root, folder), "unexpected", "no partition of a table")
                elif folder.name == NO_CAMPAIGN:
                    strays = [each for each in folder.iterdir() if each.name != EMPTY]
                    for each in strays:
                        yield Finding(relative(root, each), "unexpected", "only the zero-row file stands here")
        elif path.name not in (known if path.is_dir() else tops) and not path.name.startswith("."):
            yield Finding(path.name, "unexpected", "nothing of a warehouse bears this name")


def count_files(root: Path) -> int:
    """Return how many files the warehouse has."""
    return sum(1 for path in root.rglob("*") if path.is_file())


def _check_digest(root: Path, name: str, expected: str) -> Iterator[Finding]:
    path = root / name
    try:
        if file_digest(path) != expected:
            yield Finding(name, "altered", "its bytes are not those that were written")
    except FileNotFoundError:
        yield Finding(name, "missing", "it was written and is gone")
    except OSError as error:
        yield Finding(name, "unreadable", error.strerror or str(error))


def _check_zero_rows(root: Path, table: str, path: Path) -> Iterator[Finding]:
    """A campaign's zero-row file holds the bytes of the table's own."""
    own = root / table / NO_CAMPAIGN / EMPTY
    if not own.exists() or path.read_bytes() != own.read_bytes():
        yield Finding(relative(root, path), "altered", "it differs from the table's zero-row file")


def _check_self_named(root: Path, path: Path) -> Iterator[Finding]:
    if file_digest(path) != path.stem:
        yield Finding(relative(root, path), "altered", "its bytes are not those that its name tells")
