"""What all tests share: times are not tested, so a slow machine fails nothing."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import settings

from tests.browser import browser as browser
from tests.export.odd import odd_root as odd_root
from tests.sql.build import open_views, write_empty

settings.register_profile("opfield", deadline=None)
settings.load_profile("opfield")


@pytest.fixture(scope="session")
def every_view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with every view, which takes seconds to bind; `tests.sql.build.at` points it at a warehouse."""
    con = open_views(write_empty(tmp_path_factory.mktemp("empty")))
    yield con
    con.close()
