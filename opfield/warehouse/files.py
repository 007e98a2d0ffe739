"""Verifying files: every file of a warehouse is either known by a digest, or outside meaning (DESIGN §5, §E.7)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opfield.errors import OpfieldError, WarehouseError
from opfield.warehouse.artifacts import read_content
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES
from opfield.warehouse.layout import (
    EMPTY,
    FIRST,
    MARKER,
    NO_CAMPAIGN,
    OPEN_SQL,
    PRACTICE,
    SEAL_PLAN,
    SEALED,
    digests_folder,
    partition,
    relative,
    table_folder,
)
from opfield.warehouse.ledger import TERMINAL, last_event, segments
from opfield.warehouse.material import artifact_files, read_artifacts
from opfield.warehouse.projection import campaigns_on_disk, file_digest, projected_tables, read_digests
from opfield.warehouse.results import RECORD, RESULTS, has_results, recorded_results, results_folder
from opfield.warehouse.store import read_marker

#: Folders whose files carry no meaning: disposable, or operational records with sums of their own.
OUTSIDE_MEANING: Final = {
    "locks": "who is writing; the lock is the kernel's, not the file's",
    "checkpoints": "disposable; checked against itself and the ledger before use",
    "attempts": "operational record; each line carries its own sum",
}

#: How results come to be what the views say again.
RESULTS_REMEDY: Final = "`opfield seal` lays the campaign's results out anew"

#: Laws of findings about files whose rows are not those that were written, or may not be: nothing vouches for them.
UNREADABLE: Final = frozenset({"altered", "missing", "unreadable", "artifact", "digests", "unrecorded"})


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
    """Check a campaign's files against the digests recorded when they were written, and for what is one too many."""
    recorded: dict[str, str] = {}
    folder = digests_folder(root, campaign_id)
    segment_record = re.compile(r"\d{12}\.json")
    for record in _present(folder):
        if record.name == SEAL_PLAN:
            yield Finding(relative(root, record), "seal", "a seal was interrupted; `opfield seal` finishes it")
        elif record.name == SEALED or segment_record.fullmatch(record.name):
            try:
                files = read_digests(record)
            except (OpfieldError, OSError) as error:
                yield Finding(relative(root, record), "digests", str(error))
                continue
            segment = relative(root, table_folder(root, "events", campaign_id) / f"{record.stem}.parquet")
            if record.name != SEALED and segment not in files:
                yield Finding(relative(root, record), "digests", f"it does not tell of {segment}")
            recorded.update(files)
        else:
            yield Finding(relative(root, record), "unexpected", "no record of digests bears this name")
    for name, expected in sorted(recorded.items()):
        yield from _check_digest(root, name, expected)
    behind = _segment_behind(root, campaign_id, recorded)
    lost = _lost_records(root, campaign_id, recorded, behind)
    for gone in sorted(lost):
        if not (folder / gone).exists():  # one that cannot be read is told already
            how = "put it back from a copy of the warehouse" if gone == SEALED else "`opfield resume` writes it again"
            told = f"it was written and is gone, and nothing else vouches for the files that it named; {how}"
            yield Finding(relative(root, folder / gone), "missing", told)
    for table in TABLE_NAMES:
        for path in _present(table_folder(root, table, campaign_id)):
            name = relative(root, path)
            if name in recorded:
                continue
            if path.name == FIRST:
                yield from _check_zero_rows(root, table, path)
            elif table == "artifacts" and path.suffix == ".parquet":
                yield from _check_digest(root, name, path.stem)
            elif path.name == behind:
                yield Finding(name, "projection", "not projected yet; the next `opfield resume` catches up")
            elif path.suffix != ".parquet":
                yield Finding(name, "unexpected", "no record names this file; remove it, or put back its record")
            elif SEALED not in lost and f"{path.stem}.json" not in lost:
                # Whatever stands here is read, whoever put it there.
                yield Finding(name, "unrecorded", "no record names this file, so nothing vouches for it; remove it")


def check_read_files(root: Path, campaign_id: str) -> Iterator[Finding]:
    """Check every file whose rows a campaign's verdict is read from: its own, and what each table has beside them."""
    try:
        files = read_marker(root)
    except WarehouseError as error:
        yield Finding(MARKER, "unreadable", str(error))
        return
    for table in TABLE_NAMES:
        own = f"{table}/{NO_CAMPAIGN}/{EMPTY}"
        yield from _check_digest(root, own, files.get(own, ""))
        for path in _present(root / table / NO_CAMPAIGN):
            if path.name != EMPTY and path.suffix == ".parquet":
                told = "only the zero-row file stands here, and nothing vouches for another; remove it"
                yield Finding(relative(root, path), "unrecorded", told)
    yield from check_campaign_files(root, campaign_id)


def check_results(root: Path, campaign_id: str) -> Iterator[Finding]:
    """Check a campaign's result files against the digests recorded beside them; a campaign may have none."""
    folder = results_folder(root, campaign_id)
    if not has_results(root, campaign_id):
        return
    try:
        recorded = recorded_results(root, campaign_id)
    except OpfieldError as error:
        yield Finding(relative(root, folder / RECORD), "result", f"{error}; {RESULTS_REMEDY}")
        return
    for name, expected in sorted(recorded.items()):
        for finding in _check_digest(root, relative(root, folder / name), expected):
            yield Finding(finding.file, "result", f"{finding.detail.partition(';')[0]}; {RESULTS_REMEDY}")
    for path in _present(folder):
        if path.name != RECORD and path.name not in recorded:
            yield Finding(relative(root, path), "unexpected", f"no result bears this name; {RESULTS_REMEDY}")


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


def check_blobs(root: Path) -> Iterator[Finding]:
    """Check that every large artifact still has the bytes that its name tells, whether or not a campaign names it."""
    for folder in _present(root / "blobs"):
        for path in _present(folder) if folder.is_dir() else [folder]:
            name = relative(root, path)
            if name != f"blobs/{path.name[:2]}/{path.name}":
                yield Finding(name, "unexpected", "it stands in the wrong folder")
            yield from _check_digest(root, name, path.name)


def check_ledgers(root: Path) -> Iterator[Finding]:
    """Check that of every campaign whose files were recorded there still is a ledger: without one, nothing names it."""
    recorded = {path.parent.name for path in (root / "digests").glob("campaign=*/*.json")}
    kept = {path.parent.name for path in (root / "events").glob("campaign=*/*.parquet")}
    for name in sorted(recorded - kept):
        yield Finding(f"events/{name}", "missing", f"a ledger was written and is gone; {_remedy(f'events/{name}')}")


def check_strays(root: Path) -> Iterator[Finding]:
    """Check that nothing stands in the warehouse that no opfield put there."""
    folders = {*TABLE_NAMES, "digests", "blobs", PRACTICE, RESULTS, *OUTSIDE_MEANING}
    files = {MARKER, OPEN_SQL, *(f"{name}.sql" for name in (*TABLE_NAMES, *PRACTICE_TABLE_NAMES))}
    for path in _present(root):
        if path.name not in (folders if path.is_dir() else files):
            yield Finding(path.name, "unexpected", "nothing of a warehouse bears this name")
    yield from check_ledgers(root)
    known = {partition(campaign_id) for campaign_id in campaigns_on_disk(root)}
    for table in (*TABLE_NAMES, "digests", RESULTS):
        for folder in _present(root / table):
            if folder.name == NO_CAMPAIGN and table in TABLE_NAMES:
                for path in _present(folder):
                    if path.name != EMPTY:
                        yield Finding(relative(root, path), "unexpected", "only the zero-row file stands here")
            elif folder.name not in known:
                yield Finding(relative(root, folder), "unexpected", "no campaign of the ledger bears this name")


def count_files(root: Path) -> int:
    """Return how many files the warehouse has."""
    return sum(1 for path in root.rglob("*") if path.is_file())


def _check_digest(root: Path, name: str, expected: str) -> Iterator[Finding]:
    path = root / name
    try:
        if file_digest(path) != expected:
            yield Finding(name, "altered", f"its bytes are not those that were written; {_remedy(name)}")
    except FileNotFoundError:
        yield Finding(name, "missing", f"it was written and is gone; {_remedy(name)}")
    except OSError as error:
        yield Finding(name, "unreadable", error.strerror or str(error))


def _segment_behind(root: Path, campaign_id: str, recorded: Collection[str]) -> str | None:
    """Return the name of the segment that a writer was stopped at: published last, its digests not recorded yet.

    There is one at most, for the next is published after they are. A history that has ended has none: whoever ended it
    recorded all of it, or the next `opfield resume` does.
    """
    published = segments(root, campaign_id)
    if not published or relative(root, published[-1]) in recorded or _was_sealed(root, campaign_id):
        return None
    try:
        last = last_event(root, campaign_id)
    except OpfieldError:
        return published[-1].name
    return None if last is not None and last.type in TERMINAL else published[-1].name


def _was_sealed(root: Path, campaign_id: str) -> bool:
    """Return whether files tell of a seal, be its record there or gone."""
    is_recorded = (digests_folder(root, campaign_id) / SEALED).exists()
    return is_recorded or any(table_folder(root, "cells", campaign_id).glob("sealed-*.parquet"))


def _lost_records(root: Path, campaign_id: str, recorded: Collection[str], behind: str | None) -> frozenset[str]:
    """Return the names of records of digests that were written and cannot be read any more."""
    if _was_sealed(root, campaign_id):
        return frozenset() if recorded else frozenset({SEALED})
    published = [path for path in segments(root, campaign_id) if path.name != behind]
    return frozenset(f"{path.stem}.json" for path in published if relative(root, path) not in recorded)


def _remedy(name: str) -> str:
    """Return how a file comes back: what follows from the ledger is written again, the rest is only in a copy."""
    is_derived = name.partition("/")[0] in projected_tables() and not name.rpartition("/")[2].startswith("sealed")
    return "`opfield resume` writes it again" if is_derived else "put it back from a copy of the warehouse"


def _check_zero_rows(root: Path, table: str, path: Path) -> Iterator[Finding]:
    """A campaign's zero-row file holds the bytes of the table's own."""
    own = root / table / NO_CAMPAIGN / EMPTY
    if not (own.is_file() and path.is_file()) or path.read_bytes() != own.read_bytes():
        yield Finding(relative(root, path), "altered", "it differs from the table's zero-row file")


def _present(folder: Path) -> list[Path]:
    """Return what stands in a folder, less hidden files that no reader's glob matches, such as unfinished ones."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if not path.name.startswith(".") or path.suffix == ".parquet")
