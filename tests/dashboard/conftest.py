"""A warehouse of finished campaigns, hostile ones among them, and a dashboard over it; both once for all tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import opfield as of
from opfield.dashboard import Board
from tests.campaign.campaigns import fails_on_b, small
from tests.dashboard.campaigns import hostile
from tests.dashboard.serving import Served, serving


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of three campaigns; nobody writes it any more."""
    root = tmp_path_factory.mktemp("dashboard") / "ware house's"
    for campaign in (small(run=fails_on_b), small(repeats=1), hostile):
        of.run(campaign, root)
    return root


@pytest.fixture(scope="session")
def board(finished: Path) -> Board:
    return Board(finished, patience_s=60)


@pytest.fixture(scope="session")
def served(finished: Path) -> Iterator[Served]:
    with serving(finished) as dashboard:
        yield dashboard


@pytest.fixture
def mine(finished: Path, tmp_path: Path) -> Path:
    """The same warehouse, for a test to change."""
    return Path(shutil.copytree(finished, tmp_path / "mine"))
