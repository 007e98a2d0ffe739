from __future__ import annotations

import errno
import json
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opfield.core import canonical_json
from opfield.errors import OpfieldError, WarehouseError
from opfield.warehouse import store
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES
from opfield.warehouse.files import check_shared_files, check_strays
from opfield.warehouse.install import open_sql
from opfield.warehouse.layout import EMPTY, FIRST, MARKER, NO_CAMPAIGN, PRACTICE, table_folder
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import create_store, open_partition, open_store
from opfield.warehouse.views import load_views

CAMPAIGN = "sha256:" + "ab" * 32


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return create_store(tmp_path / "warehouse").root


def findings(root: Path) -> list[str]:
    return [finding.file for check in (check_shared_files(root), check_strays(root)) for finding in check]


def test_a_new_warehouse_opens_and_has_nothing_wrong(root: Path) -> None:
    assert open_store(root).root == root
    assert findings(root) == []
    assert open_warehouse(root).sql("from events").fetchall() == []


def test_making_it_again_changes_nothing(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    create_store(root)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before


def make(root: Path) -> None:
    create_store(root)
    open_partition(root, CAMPAIGN)


def test_eight_processes_make_one_warehouse(tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=make, args=(root,)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    # The ledger is empty, so the campaign's folders are all that is not expected: nobody wrote an event.
    assert findings(root) == []
    assert not [path for path in root.rglob("*") if path.name.startswith(".")]


@pytest.mark.parametrize("use", [open_store, create_store, open_warehouse])
def test_a_file_is_no_warehouse(tmp_path: Path, use: Callable[[Path], object]) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WarehouseError, match="is a file, not a folder; name a folder with --warehouse"):
        use(tmp_path / "file")
    with pytest.raises(WarehouseError, match="with --warehouse"):
        use(tmp_path / "file" / "below")


def test_a_folder_that_is_no_warehouse_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="is no warehouse yet; `opfield run` or `opfield ingest` makes one there"):
        open_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_newer_format_is_refused_untouched(root: Path) -> None:
    newer = canonical_json({"format": 2, "catalogue": "of another kind"})
    (root / MARKER).write_bytes(newer)
    for use in (open_store, create_store):
        with pytest.raises(
            WarehouseError, match="written in format 2 by a newer opfield; this one reads up to format 1"
        ):
            use(root)
    assert (root / MARKER).read_bytes() == newer


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b'"format":1', b'"format":0'),
        lambda content: content.replace(b'"format":1', b'"format":1.5'),
        lambda content: content.replace(b'"format":1', b'"format":"x"'),
        lambda content: content.replace(b"cells.sql", b"calls.sql"),
        lambda content: b"[" + content + b"]",
    ],
)
def test_a_damaged_marker_says_how_to_mend_it(root: Path, damage: Callable[[bytes], bytes]) -> None:
    marker = root / MARKER
    whole = marker.read_bytes()
    marker.write_bytes(damage(whole))
    for use in (open_store, create_store):
        with pytest.raises(WarehouseError, match=r"is damaged .* remove it, and the next `opfield run`"):
            use(root)
    marker.unlink()
    with pytest.raises(
        WarehouseError, match=r"has no warehouse\.json; the next `opfield run` or `opfield resume` writes it"
    ):
        open_store(root)
    create_store(root)
    assert marker.read_bytes() == whole


def test_the_next_writer_mends_what_every_warehouse_has(root: Path) -> None:
    open_partition(root, CAMPAIGN)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    empty = root / "cells" / NO_CAMPAIGN / EMPTY
    empty.write_bytes(before[empty][:-9] + b"x" + before[empty][-8:])
    (root / "open.sql").write_text("select 1")
    (root / "metrics.sql").unlink()
    (table_folder(root, "cases", CAMPAIGN) / FIRST).unlink()
    assert set(findings(root)) >= {empty.relative_to(root).as_posix(), "open.sql", "metrics.sql"}
    create_store(root)
    open_partition(root, CAMPAIGN)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_open_sql_is_rendered_again_only_where_what_it_is_rendered_from_differs(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int] = []

    def counted(*given: Any) -> str:
        rendered.append(1)
        return open_sql(*given)

    monkeypatch.setattr(store, "open_sql", counted)
    create_store(root)
    assert rendered == []
    views = load_views()
    monkeypatch.setattr(store, "installed_views", lambda: views.restricted(["coverage"]))
    create_store(root)
    assert rendered == [1]
    assert "gate_harm" not in (root / "open.sql").read_text()
    assert findings(root) == []


def test_a_missing_zero_row_file_is_told_to_a_writer_that_cannot_mend_it(root: Path) -> None:
    (root / "cases" / NO_CAMPAIGN / EMPTY).unlink()
    with pytest.raises(WarehouseError, match="is gone; the next `opfield run`"):
        open_partition(root, CAMPAIGN)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_disk_that_does_not_take_it_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, call: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(f"opfield.warehouse.durable.os.{call}", refuse)
    with pytest.raises(OpfieldError, match=os.strerror(code)) as told:
        create_store(tmp_path / "warehouse")
    assert "Mend the disk" in str(told.value) or "name another" in str(told.value)
    monkeypatch.undo()
    create_store(tmp_path / "warehouse")
    assert findings(tmp_path / "warehouse") == []


def test_tables_and_folders_match(root: Path) -> None:
    assert {path.name for path in root.iterdir() if path.is_dir()} == {*TABLE_NAMES, PRACTICE}
    assert {path.name for path in (root / PRACTICE).iterdir()} == set(PRACTICE_TABLE_NAMES)
    marker = json.loads((root / MARKER).read_bytes())
    assert set(marker) == {"format", "files", "digest"}
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == {
        MARKER,
        *marker["files"],
    }
