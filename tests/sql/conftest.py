"""One connection with every view, and warehouses written from hand-made campaigns."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.warehouse.session import Warehouse
from opfield.warehouse.views import VERDICTS, load_views
from tests.sql.build import Campaign, at, rows, write_campaign, write_empty

_ALL = load_views()
#: Relations that read the gates of every kind.
VERDICT_NAMES = frozenset(name for name in _ALL.relations if VERDICTS in _ALL.closure([name]))

Read = Callable[[str], list[dict[str, Any]]]
Write = Callable[..., str]


@pytest.fixture(scope="session")
def views(every_view: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    return every_view


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_empty(tmp_path / "warehouse")


@pytest.fixture
def read(views: duckdb.DuckDBPyConnection, root: Path) -> Read:
    """Query the warehouse `root`; ids of campaigns are left out of the rows.

    What reads a verdict is asked in a snapshot, which takes a tenth of the time that it takes to bind every gate; that
    both give the same rows is what the tests of the shell say.
    """
    at(views, root)

    def run(query: str) -> list[dict[str, Any]]:
        is_verdict = not VERDICT_NAMES.isdisjoint(re.findall(r"\w+", query))
        found = Warehouse(root, is_snapshot=True).rows(query) if is_verdict else rows(views, query)
        return [{name: value for name, value in row.items() if name != "campaign_id"} for row in found]

    return run


@pytest.fixture
def write(views: duckdb.DuckDBPyConnection, root: Path) -> Write:
    """Write a campaign into the warehouse `root`, and return its id."""

    def run(campaign: Campaign, segment_events: int = 1_000_000) -> str:
        return write_campaign(views, root, campaign, segment_events)

    return run
