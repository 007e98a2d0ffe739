from __future__ import annotations

import pytest

from tests.custody.replay import Told, told_campaign


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """A finished campaign of three candidates and two cases: 19 events."""
    return told_campaign(tmp_path_factory.mktemp("told") / "warehouse")
