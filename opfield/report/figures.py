"""The charts of a page: rows of the content, a specification for the script that draws, and what it shows in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from opfield.report import charts
from opfield.report.palette import PAGE
from opfield.report.text import number, plural, signed

if TYPE_CHECKING:
    import altair as alt

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart of a page.

    Attributes:
        name: name in the page, unique.
        caption: what stands above it.
        alternative: what it shows, in words.
        specification: Vega-Lite as JSON that may stand inside of a script element.
        metric: metric that it is about; empty where it is about several.
        rows: the rows that it is drawn from.
        lines: lines that it draws.
    """

    name: str
    caption: str
    alternative: str
    specification: Markup
    metric: str = ""
    rows: Rows = ()
    lines: Rows = ()


def forests(comparisons: Rows, margins: Rows) -> list[Figure]:
    """Return a forest plot for each metric, in the order of the rows."""
    found = []
    for ix, (metric, rows) in enumerate(_grouped(comparisons, "metric")):
        lines = [row for row in margins if row["metric"] == metric]
        known = [row for row in rows if row["mean_delta"] is not None]
        told = "; ".join(f"{row['label']} {signed(row['mean_delta'])} ({row['decision']})" for row in known[:10])
        more = f"; and {number(len(known) - 10)} more" if len(known) > 10 else ""
        found.append(
            Figure(
                f"forest-{ix}",
                f"Oriented change of {metric} against the baseline, with its 95 % interval",
                f"Oriented changes of {metric}: {told or 'none known'}{more}",
                _specification(charts.forest(rows, lines, title=f"oriented change of {metric}", palette=PAGE)),
                metric,
                rows,
                lines,
            )
        )
    return found


def grid(coverage: Rows, both: Mapping[str, Any]) -> Figure | None:
    """Return the coverage grid; a mark leads to the cells behind it. None without rows."""
    if not coverage:
        return None
    rows = [
        row if row["class"] == "success" else {**row, "href": f"#cells-{row['position']}-{row['class']}"}
        for row in coverage
    ]
    whole = f"{number(both['success'])} of {plural(both['declared'], 'declared cell')} succeeded"
    most = max(row["column_cases"] for row in coverage)
    column = "a column is a case" if most == 1 else f"a column holds up to {number(most)} cases"
    return Figure(
        "coverage",
        f"Arms by cases: {column}. A mark stands where cells failed or are missing, for the class of most of them; the "
        "larger their share of the declared cells there, the deeper the shade",
        f"Coverage of arms by cases: {whole}",
        _specification(charts.coverage_grid(rows, palette=PAGE)),
    )


def slopes(rows: Rows, metric: str, unit: str | None) -> list[Figure]:
    """Return paired slopes of each candidate among the rows."""
    title = f"{metric}, {unit}" if unit else metric
    return [
        Figure(
            f"slopes-{position}",
            f"{grouped[0]['label']}",
            f"Paired slopes of {metric} from the baseline to {grouped[0]['label']}",
            _specification(charts.slopes(grouped, title=title, palette=PAGE)),
            metric,
        )
        for position, grouped in _grouped(rows, "position")
    ]


def pareto(rows: Rows, focus: Mapping[str, Any]) -> Figure | None:
    """Return the scatter of the two metrics in focus; None where no candidate has both."""
    if not any(row["standing"] != "baseline" for row in rows):
        return None
    front = [row for row in rows if row["standing"] in ("selected", "front")]
    across, upwards = (
        f"{focus[f'{which}metric']} ({'more' if focus[f'{which}direction'] > 0 else 'less'} is better)"
        for which in ("other_", "")
    )
    told = ", ".join(f"{row['label']} ({number(row['x'])}, {number(row['y'])})" for row in front[:10])
    return Figure(
        "pareto",
        f"{upwards} over {across}",
        f"Scatter of {across} and {upwards}; on the front: {told or 'none'}",
        _specification(
            charts.pareto(
                rows,
                x_title=across,
                y_title=upwards,
                palette=PAGE,
            )
        ),
        rows=rows,
    )


def _grouped(rows: Iterable[Mapping[str, Any]], member: str) -> list[tuple[Any, list[Mapping[str, Any]]]]:
    return [(key, list(group)) for key, group in groupby(rows, key=lambda row: row[member])]


def _specification(chart: alt.LayerChart) -> Markup:
    """Return a chart as JSON in which nothing can end the element that it stands in."""
    # Rows are plain already, and validating every one of thousands against the schema takes most of the time. The page
    # says that it is Vega-Lite; of what release is for the script that draws it to know.
    plain = {name: value for name, value in chart.to_dict(validate=False).items() if name != "$schema"}
    told = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for sign in "<>&\u2028\u2029":
        told = told.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(told)
