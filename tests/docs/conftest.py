from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from properdocs.commands.build import build
from properdocs.config import load_config

from tests.docs.pages import ROOT, written_pages
from tests.markdown_blocks import run_page, starts_from


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the documentation as `make docs` does: a warning ends the build."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    build(load_config(str(ROOT / "docs" / "site" / "properdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.fixture(scope="session")
def folder_after(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Run a page once, after the page that it goes on from, and give the folder that it leaves."""
    pages = written_pages()
    done: dict[str, Path | Exception] = {}

    def run(name: str) -> Path:
        if name not in done:
            folder = tmp_path_factory.mktemp("page") / "folder"
            try:
                before = starts_from(pages[name])
                if before is None:
                    folder.mkdir()
                else:
                    shutil.copytree(run(before), folder)
                os.chdir(folder)
                run_page(name, pages[name])
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
