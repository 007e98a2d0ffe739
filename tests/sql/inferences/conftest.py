"""Generated campaigns in one warehouse, written once and read by every test of this folder."""

from __future__ import annotations

from random import Random

import duckdb
import pytest

from tests.sql.build import at, rows, write_campaign, write_empty
from tests.sql.inferences.drawing import Inferring, drawn

CAMPAIGNS = 36


@pytest.fixture(scope="session")
def campaigns() -> list[Inferring]:
    """Return campaigns of all kinds, the same ones each time."""
    chance = Random("inferences")
    return [drawn(chance, f"campaign {ix}") for ix in range(CAMPAIGNS)]


@pytest.fixture(scope="session")
def told(
    views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, campaigns: list[Inferring]
) -> dict[str, dict[str, list[dict[str, object]]]]:
    """Return the rows of `comparisons` and `inferences` of each campaign, by relation and campaign's name."""
    root = write_empty(tmp_path_factory.mktemp("inferences") / "warehouse")
    names = {write_campaign(views, root, campaign): campaign.name for campaign in campaigns}
    at(views, root)
    told: dict[str, dict[str, list[dict[str, object]]]] = {}
    for relation in ("comparisons", "inferences"):
        told[relation] = {campaign.name: [] for campaign in campaigns}
        for row in rows(views, f"from {relation}"):
            told[relation][names[row["campaign_id"]]].append(row)
    return told
