"""Charts are what Altair takes for one: a page draws them without asking it each time."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt

from opfield.report import charts
from opfield.report.palette import PAGE
from tests.report.conftest import Made

Make = Callable[[str], Made]


def test_every_chart_is_valid(made: Make) -> None:
    rows = made("missing_evidence").rows
    marked = [{**row, "href": "#cells"} for row in rows("coverage")]
    margins = [row for row in rows("margins") if row["metric"] == "score"]
    drawn = {
        "forest": charts.forest(
            [row for row in rows("comparisons") if row["metric"] == "score"], margins, palette=PAGE
        ),
        "coverage": charts.coverage_grid(marked, palette=PAGE),
        "slopes": charts.slopes([row for row in rows("slopes") if row["position"] == 1], palette=PAGE),
        "pareto": charts.pareto(rows("pareto"), x_title="words", y_title="score", palette=PAGE),
    }
    for name, chart in drawn.items():
        assert len(alt.Chart.from_dict(chart.to_dict()).to_dict()["layer"]) >= 2, name


def test_the_shade_of_a_place_is_the_share_of_its_cells_that_failed(made: Make) -> None:
    rows = made("missing_evidence").rows("coverage")
    specification = charts.coverage_grid(rows).to_dict()
    layers = specification["layer"]
    (shade,) = [each for each in layers if "opacity" in each["encoding"]]
    told = {(row["label"], row["bin"]): row["share"] for row in specification["datasets"][shade["data"]["name"]]}
    expected = {(row["label"], row["bin"]): row["affected"] / row["cells"] for row in rows if row["class"] != "success"}
    assert told == expected
    assert shade["encoding"]["opacity"]["field"] == "share"
    # A mark says of what class most of them are, never how many by its size.
    assert not any("size" in each["encoding"] for each in layers)
