from __future__ import annotations

from pathlib import Path

import pytest

import opfield as of
from tests.export.odd import odd


@pytest.fixture(scope="session")
def odd_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that holds the odd campaign."""
    root = tmp_path_factory.mktemp("odd") / "warehouse"
    assert of.run(odd(), root, executor="inline").state == "completed"
    return root
