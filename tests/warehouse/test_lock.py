from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from opfield.errors import HeldError, WarehouseError
from opfield.warehouse.layout import lock_file
from opfield.warehouse.lock import hold, holder_of, no_lock

CAMPAIGN = "sha256:" + "cd" * 32


def test_who_finds_it_held_is_told_by_whom(tmp_path: Path) -> None:
    with hold(tmp_path, CAMPAIGN):
        holder = f"process {os.getpid()} on {socket.gethostname()} since "
        with pytest.raises(HeldError, match=holder), hold(tmp_path, CAMPAIGN):
            pass
        assert (holder_of(tmp_path, CAMPAIGN) or "").startswith(holder)
        with hold(tmp_path, "sha256:" + "ef" * 32):
            pass
    assert holder_of(tmp_path, CAMPAIGN) is None
    with hold(tmp_path, CAMPAIGN):
        pass


def test_a_reader_who_asks_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    with hold(tmp_path, CAMPAIGN):
        pass
    stop = time.monotonic() + 0.5

    def ask() -> None:
        while time.monotonic() < stop:
            holder_of(tmp_path, CAMPAIGN)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    held = 0
    while time.monotonic() < stop:
        with hold(tmp_path, CAMPAIGN):
            held += 1
    for thread in threads:
        thread.join()
    assert held > 1


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": 1}', b"\xff\xfe", b"[]" * 1000])
def test_a_holder_that_cannot_be_read_is_another_process(tmp_path: Path, content: bytes) -> None:
    with hold(tmp_path, CAMPAIGN):
        lock_file(tmp_path, CAMPAIGN).write_bytes(content)
        with pytest.raises(HeldError, match="another process"), hold(tmp_path, CAMPAIGN):
            pass


def test_the_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), hold(tmp_path, CAMPAIGN):
        raise ValueError("mine")
    assert holder_of(tmp_path, CAMPAIGN) is None


def test_a_lock_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file")
    with pytest.raises(WarehouseError, match=r"cannot write .*locks"), hold(tmp_path, CAMPAIGN):
        pass


def test_without_a_lock_nobody_is_kept_out(tmp_path: Path) -> None:
    with no_lock(tmp_path, CAMPAIGN), no_lock(tmp_path, CAMPAIGN):
        assert holder_of(tmp_path, CAMPAIGN) is None
