"""One writer: an operating-system lock on the campaign, held for as long as the writer lives.

The kernel releases the lock when the holder ends by whatever means, so a dead writer never blocks and a stopped one is
never overtaken. Python's file handles are not inherited by spawned workers, so a worker that outlives its coordinator
for a moment holds nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from opfield.errors import HeldError
from opfield.warehouse.durable import make_folder, storage_error
from opfield.warehouse.layout import lock_file

#: A reader that asks who is writing holds the lock for a moment, and a new holder needs one to give its name.
_TRIES: Final = 10
_PAUSE_S: Final = 0.02

#: How a writer takes its campaign: a context manager over (warehouse folder, campaign id).
Locking = Callable[[Path, str], AbstractContextManager[None]]


#: Handles of the locks that this process holds.
_HELD: Final[set[int]] = set()


def _let_go_in_child() -> None:
    """Close the copies that a fork made: a child that outlives its parent must not hold the campaign."""
    for handle in _HELD:
        os.close(handle)
    _HELD.clear()


os.register_at_fork(after_in_child=_let_go_in_child)


@contextmanager
def hold(root: Path, campaign_id: str) -> Iterator[None]:
    """Hold the campaign's lock.

    Raises:
        HeldError: where another process holds it; the message names the holder.
    """
    path = lock_file(root, campaign_id)
    try:
        make_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        if not _taken(handle):
            raise HeldError(
                f"campaign {campaign_id[:19]}… is being written by {_holder(path)}; wait until it ends, or stop it "
                "there with Ctrl-C, then try again"
            )
        _tell(path, handle)
        _HELD.add(handle)
        yield
    finally:
        _HELD.discard(handle)
        os.close(handle)


@contextmanager
def no_lock(root: Path, campaign_id: str) -> Iterator[None]:  # noqa: ARG001 - the shape of `hold`
    """Hold nothing, as on a store without locks: then the slots alone decide who writes. For tests."""
    yield


def holder_of(root: Path, campaign_id: str) -> str | None:
    """Return who is writing the campaign, in words, or None where nobody is."""
    path = lock_file(root, campaign_id)
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(path)
    finally:
        os.close(handle)
    return None


def _taken(handle: int) -> bool:
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_S)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False


def _tell(path: Path, handle: int) -> None:
    """Write down who holds the lock, for the message of those who find it held."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    told = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()
    try:
        os.pwrite(handle, told, 0)
        os.ftruncate(handle, len(told))
    except OSError as error:
        raise storage_error(path, error) from error


def _holder(path: Path) -> str:
    try:
        told = json.loads(path.read_text())
        return f"process {told['pid']} on {told['host']} since {told['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
