"""The charts of a view: the report's, over the view's rows."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

from opfield.dashboard.board import View
from opfield.report.palette import Palette
from opfield.report.text import all_visible

if TYPE_CHECKING:
    import altair as alt

#: Colours that the page's style sheet defines, under the names that it gives them.
PAGE: Final = Palette(*(f"var(--op-{each.name.replace('_', '-')})" for each in fields(Palette)))


def charts_of(view: View) -> dict[str, alt.LayerChart]:
    """Return the charts of a view by name; none where it has none."""
    # Loaded where a chart is drawn: the first view of a page is without.
    from opfield.report.charts import coverage_grid, forest, slopes

    told = all_visible({name: view.told.get(name) for name in ("forest", "margins", "focus", "coverage", "slopes")})
    charts: dict[str, alt.LayerChart] = {}
    if told["forest"]:
        charts["forest"] = forest(
            told["forest"], told["margins"], title=f"oriented change of {told['focus']['metric']}", palette=PAGE
        )
    if told["coverage"]:
        charts["coverage"] = coverage_grid(told["coverage"], palette=PAGE)
    if told["slopes"]:
        charts["slopes"] = slopes(told["slopes"], title=told["focus"]["metric"], palette=PAGE)
    for chart in charts.values():
        # As SVG a chart takes its colours from the page's style sheet, and so follows it into the dark.
        chart.usermeta = {"embedOptions": {"renderer": "svg", "actions": False}}
    return charts
