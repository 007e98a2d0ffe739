"""A warehouse for each test, copied from one that was made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opfield.warehouse.store import create_store


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty warehouse; not to be written to."""
    return create_store(tmp_path_factory.mktemp("made") / "warehouse").root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "warehouse")
