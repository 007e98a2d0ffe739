"""Each block of code on each page runs, in order, and prints what the page shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import written_pages
from tests.markdown_blocks import blocks_of, run_page, starts_from

PAGES = written_pages()
WITH_CODE = [name for name, text in PAGES.items() if any("not run" not in each.marks for each in blocks_of(text))]
NOT_RUN = [
    pytest.param(name, each.marks["not run"], id=f"{name}:{each.line}")
    for name, text in PAGES.items()
    for each in blocks_of(text)
    if "not run" in each.marks
]


@pytest.fixture(scope="session")
def folder_after(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Run a page once, after the page that it goes on from, and give the folder that it leaves."""
    done: dict[str, Path | Exception] = {}

    def run(name: str) -> Path:
        if name not in done:
            folder = tmp_path_factory.mktemp("page") / "folder"
            try:
                before = starts_from(PAGES[name])
                if before is None:
                    folder.mkdir()
                else:
                    shutil.copytree(run(before), folder)
                os.chdir(folder)
                run_page(name, PAGES[name])
                done[name] = folder
            except Exception as error:
                done[name] = error
        found = done[name]
        if isinstance(found, Exception):
            raise found
        return found

    return run


@pytest.fixture(autouse=True)
def _stands_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Come back from a page's folder, and let no warehouse of the caller's be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPFIELD_WAREHOUSE", raising=False)


@pytest.mark.parametrize("name", WITH_CODE)
def test_every_block_runs_and_prints_what_the_page_shows(name: str, folder_after: Callable[[str], Path]) -> None:
    folder_after(name)


@pytest.mark.parametrize(("name", "reason"), NOT_RUN)
def test_a_block_that_cannot_run_says_why(name: str, reason: str) -> None:
    assert len(reason) > 10, f"{name}: say why in words"
    pytest.skip(reason)
