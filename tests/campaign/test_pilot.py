"""What a campaign is read as when another one is planned by it, and what is no pilot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.campaign.pilot import read_pilot
from opfield.errors import OpfieldError, UnknownNameError
from opfield.warehouse.session import Warehouse
from tests.campaign.planning import measured
from tests.sql.build import Campaign, Metric, write_campaign, write_empty


@pytest.fixture
def warehouse(tmp_path: Path) -> Callable[[Campaign], tuple[Warehouse, str]]:
    def written(campaign: Campaign) -> tuple[Warehouse, str]:
        root = write_empty(tmp_path / "warehouse")
        with duckdb.connect() as con:
            return Warehouse(root, is_snapshot=True), write_campaign(con, root, campaign)

    return written


TWO = {"a": {"x": [1.0, 2.0], "y": [3.0, 5.0]}, "b": {"x": [0.0, 4.0], "y": [9.0, 3.0]}}


def test_a_pilot_is_read_as_the_view_has_it(warehouse: Any) -> None:
    opened, campaign_id = warehouse(measured(TWO))
    pilot = read_pilot(opened, campaign_id, candidate="label a")
    (row,) = opened.rows("select * from variance_components where candidate_id = 'a'")
    assert (pilot.between, pilot.within, pilot.mean_variance) == (
        row["between_variance"],
        row["within_variance"],
        row["mean_variance"],
    )
    assert (pilot.cases, pilot.clusters, pilot.repeats, pilot.missing) == (2, 2, 2.0, 0)
    assert read_pilot(opened, opened.campaign_id("tiny"), candidate="a") == pilot


def test_the_candidate_is_the_selected_one_or_the_one_that_varies_most(warehouse: Any) -> None:
    opened, campaign_id = warehouse(measured(TWO))
    # the case means of a are 1.5 and 4, those of b are 2 and 6
    assert read_pilot(opened, campaign_id).candidate == "label b"
    ended = measured(TWO, name="ended", ending={"selected": "a", "outcome": "selected", "score": 1.0})
    opened, campaign_id = warehouse(ended)
    assert read_pilot(opened, campaign_id).candidate == "label a"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": {"x": [1.0, 2.0]}}, "one case shows nothing of how cases differ; run it on more cases"),
        ({"a": {"x": [None], "y": [None]}}, "no pair was found; let it run first"),
        ({"a": {"x": [2.0, 2.0], "y": [2.0, 2.0]}}, "all 2 cases gave the same change, 2, which says nothing"),
        ({"a": {"x": [2.0], "y": [2.0]}}, "all 2 cases gave the same change, 2, which says nothing"),
    ],
)
def test_what_shows_nothing_of_the_spread_is_no_pilot(warehouse: Any, values: Any, message: str) -> None:
    opened, campaign_id = warehouse(measured(values))
    with pytest.raises(OpfieldError, match=message):
        read_pilot(opened, campaign_id)


def test_equal_means_of_noisy_cases_are_a_pilot(warehouse: Any) -> None:
    opened, campaign_id = warehouse(measured({"a": {"x": [1.0, 3.0], "y": [0.0, 4.0]}}))
    assert read_pilot(opened, campaign_id).within == 5.0


def test_unknown_names_list_the_known_ones(warehouse: Any) -> None:
    opened, campaign_id = warehouse(measured(TWO))
    with pytest.raises(UnknownNameError, match=r"unknown metric 'scor'.*known: score"):
        read_pilot(opened, campaign_id, metric="scor")
    with pytest.raises(UnknownNameError, match=r"unknown candidate 'z'.*known: label a, label b"):
        read_pilot(opened, campaign_id, candidate="z")


def test_a_metric_must_be_named_where_none_is_preferred(warehouse: Any) -> None:
    told = measured(TWO, preference=None, metrics=[Metric("score"), Metric("other")])
    opened, campaign_id = warehouse(told)
    with pytest.raises(OpfieldError, match=r"name one.*other, score"):
        read_pilot(opened, campaign_id)
    assert read_pilot(opened, campaign_id, metric="score").metric == "score"
