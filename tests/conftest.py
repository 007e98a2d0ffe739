"""What all tests share: times are not tested, so a slow machine fails nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import settings

from tests.browser import browser as browser
from tests.export.odd import odd_root as odd_root
from tests.sql.build import open_views, write_empty

#: Tests that share what takes seconds to make: campaigns, a served page, the built documentation. Files and folders of
#: `tests`, by a name for those that go together.
TOGETHER = {
    "dashboard": "dashboard",
    "docs": "docs",
    "export": "export",
    "report": "report",
    "test_cli_export.py": "export",
}

settings.register_profile("opfield", deadline=None)
settings.load_profile("opfield")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a file, or a folder of `TOGETHER`, to one process as a whole, so that what its tests share is made once."""
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _shared_by
    return scheduler


def _shared_by(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file.removeprefix("tests/").partition("/")[0], file)


@pytest.fixture(scope="session")
def every_view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with every view, which takes seconds to bind; `tests.sql.build.at` points it at a warehouse."""
    con = open_views(write_empty(tmp_path_factory.mktemp("empty")))
    yield con
    con.close()
