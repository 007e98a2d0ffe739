"""Durable files: written whole under a temporary name, synced, then published; never seen half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import duckdb

from opfield.errors import WarehouseError

#: Prefix of names that no reader's glob matches and that a writer may sweep.
TEMPORARY = ".tmp-"


def write_temporary(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Create a synced temporary file in `folder`, filled by `fill(path)`; removed again where that fails."""
    temporary = folder / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
    try:
        make_folder(folder)
        fill(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError | duckdb.IOException):
            raise storage_error(folder, error) from error
        raise
    return temporary


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, their names durable."""
    if folder.is_dir():
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


def publish_new(temporary: Path, target: Path) -> bool:
    """Give the temporary file its name only if nobody has it yet; return whether this call did (put-if-absent)."""
    try:
        os.link(temporary, target)
        sync_folder(target.parent)
    except FileExistsError:
        return False
    except OSError as error:
        raise storage_error(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return True


def replace(temporary: Path, target: Path) -> None:
    """Give the temporary file its name, whether or not another file has it."""
    try:
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error(target, error) from error


def write_bytes(target: Path, content: bytes) -> None:
    """Write a small file durably, replacing what stood there."""
    replace(write_temporary(target.parent, lambda path: _fill(path, content)), target)


def write_bytes_unless_equal(target: Path, content: bytes) -> None:
    """Write a small file durably, unless it holds these bytes already."""
    with suppress(OSError):  # then writing tells what is wrong
        if target.read_bytes() == content:
            return
    write_bytes(target, content)


def write_bytes_once(target: Path, content: bytes) -> bool:
    """Write a small file durably unless it stands already; return whether this call wrote it."""
    return publish_new(write_temporary(target.parent, lambda path: _fill(path, content)), target)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove temporary files that a dead writer left; call it under the campaign's lock only."""
    if folder.is_dir():
        for left in folder.glob(f"{TEMPORARY}*"):
            left.unlink(missing_ok=True)


def storage_error(place: Path, error: OSError | duckdb.IOException) -> WarehouseError:
    """Return the error that names the place, the system's reason and a remedy."""
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return WarehouseError(
        f"cannot write {place}: {reason}; what was accepted before is safe. Mend the disk or its permissions, "
        "then resume"
    )


def _fill(path: Path, content: bytes) -> None:
    path.write_bytes(content)
