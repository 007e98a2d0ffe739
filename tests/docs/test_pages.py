"""Each block of code on each page runs, in order, and prints what the page shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import written_pages
from tests.markdown_blocks import blocks_of

PAGES = written_pages()
WITH_CODE = [name for name, text in PAGES.items() if any("not run" not in each.marks for each in blocks_of(text))]
NOT_RUN = [
    pytest.param(name, each.marks["not run"], id=f"{name}:{each.line}")
    for name, text in PAGES.items()
    for each in blocks_of(text)
    if "not run" in each.marks
]


@pytest.mark.parametrize("name", WITH_CODE)
def test_every_block_runs_and_prints_what_the_page_shows(name: str, folder_after: Callable[[str], Path]) -> None:
    folder_after(name)


@pytest.mark.parametrize(("name", "reason"), NOT_RUN)
def test_a_block_that_cannot_run_says_why(name: str, reason: str) -> None:
    assert len(reason.split()) > 1, f"{name}: say why in words"
    pytest.skip(reason)
