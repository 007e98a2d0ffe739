"""Disks that are full or may only be read: real ones where a small one may be mounted, imitated ones everywhere."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.errors import WarehouseError
from opfield.warehouse.lock import hold, holder_of
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import create_store
from tests.custody.campaigns import events_of, history, weighted
from tests.custody.replay import Told, rows_of


class Disk:
    """A disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, options: str) -> None:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no disk may be mounted here: {done.stderr.decode().strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = Disk(folder)
    mounted.mount("size=4m")
    yield mounted
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def test_a_full_disk_loses_nothing_accepted_and_the_campaign_resumes(disk: Disk, told: Told) -> None:
    root = disk.folder / "warehouse"
    campaign = weighted(repeats=4)
    create_store(root)
    ballast = disk.folder / "ballast"
    room = os.statvfs(disk.folder).f_bavail * os.statvfs(disk.folder).f_frsize
    ballast.write_bytes(b"x" * (room - 120_000))
    with pytest.raises(WarehouseError, match=r"No space left on device.*what was accepted before is safe"):
        run(campaign, root, executor="inline")
    (partition,) = (root / "events").glob("campaign=[!n]*")
    accepted = history(root, "sha256:" + partition.name.removeprefix("campaign="))
    assert not [path for path in root.rglob("*") if path.name.startswith(".tmp-")]
    ballast.unlink()
    outcome = run(campaign, root, executor="inline")
    events = history(root, outcome.campaign_id)
    assert events[: len(accepted)] == accepted
    assert len(events) == events_of(campaign)
    assert audit(root).findings == ()


def test_a_read_only_disk_is_read_and_not_written(disk: Disk, told: Told) -> None:
    root = Path(shutil.copytree(told.root, disk.folder / "warehouse"))
    subprocess.run(["mount", "-o", "remount,ro", str(disk.folder)], check=True)
    assert open_warehouse(root).rows("select count(*) as rows from events") == [{"rows": len(told.events)}]
    assert rows_of(root, told.campaign_id) == rows_of(told.root, told.campaign_id)
    assert audit(root).findings == ()
    assert holder_of(root, told.campaign_id) is None
    with pytest.raises(WarehouseError, match="Read-only file system"), hold(root, told.campaign_id):
        pass
    with pytest.raises(WarehouseError, match="Read-only file system"):
        create_store(disk.folder / "other")
    with pytest.raises(WarehouseError, match="Read-only file system"):
        run(weighted(cases=1), root, executor="inline")


@contextmanager
def refusing(after: int, code: int) -> Iterator[None]:
    """Let a number of syncs pass, then refuse every one."""
    real, seen = os.fsync, []

    def fsync(handle: int) -> None:
        seen.append(handle)
        if len(seen) > after:
            raise OSError(code, os.strerror(code))
        real(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opfield.warehouse.durable.os.fsync", fsync)
        yield


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("after", [0, 2, 5, 9, 14, 22])
def test_a_disk_that_fails_at_any_moment_is_named_and_nothing_accepted_is_lost(
    tmp_path: Path, told: Told, after: int, code: int
) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=7)
    with refusing(after, code), pytest.raises(WarehouseError, match=os.strerror(code)) as error:
        told.tell(root)
    assert "what was accepted before is safe. Mend the disk" in str(error.value)
    accepted = history(root, told.campaign_id)
    assert len(accepted) >= 7
    told.tell(root)
    assert history(root, told.campaign_id)[: len(accepted)] == accepted
    assert told.is_told(root)
    assert audit(root).findings == ()
