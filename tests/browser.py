"""Headless Chromium for tests of pages: the fixture `browser`, skipped with its reason where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Debian's Chromium once a file; pages that a test opens are its own to close.

    No longer than that: while it runs, an event loop turns in this thread, and no other may be started.
    """
    if CHROMIUM is None:
        pytest.skip("Chromium, which shows the pages, is not installed")
    with sync_playwright() as play:
        # A container's root has no user namespaces for the sandbox; the pages are the tests' own.
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()
