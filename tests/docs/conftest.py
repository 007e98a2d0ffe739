from __future__ import annotations

from pathlib import Path

import pytest
from properdocs.commands.build import build
from properdocs.config import load_config

from tests.docs.pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the documentation as `make docs` does: a warning ends the build."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    build(load_config(str(ROOT / "docs" / "site" / "properdocs.yml"), site_dir=str(folder), strict=True))
    return folder
