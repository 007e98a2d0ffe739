"""Charts: pure functions from rows to Altair charts, the same for the report and the dashboard.

Rows are dictionaries with the columns that each function names; names of fields are ours, and what users wrote stands
in values alone. Nothing is computed here: what a mark says is a number of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from opfield.report.palette import LIGHT, Palette

Rows = Sequence[Mapping[str, Any]]

_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_ROW: Final = 22

#: Classes of cells that are not whole, and the shape that each has beside its colour.
CELL_CLASSES: Final = {
    "domain_failure": "cross",
    "infrastructure_failure": "triangle-up",
    "cancelled": "diamond",
    "missing": "square",
}

_CLASS_NAMES: Final = "replace(datum.label, '_', ' ')"

#: Standing of a candidate among those that its policy passes, and its shape.
STANDINGS: Final = {
    "selected": "diamond",
    "front": "circle",
    "dominated": "circle",
    "unrankable": "triangle-up",
    "not passing": "cross",
    "baseline": "square",
}

_DECISIONS: Final = {"pass": "circle", "fail": "cross", "indeterminate": "triangle-up"}


def forest(
    rows: Rows, margins: Rows = (), *, title: str = "oriented change", palette: Palette = LIGHT
) -> alt.LayerChart:
    """Return a forest plot of one metric: a candidate a line, its oriented change with its 95 % interval.

    Args:
        rows: in the order in which they are drawn: `label` (unique), `decision` (pass, fail or indeterminate),
            `mean_delta`, `ci_low`, `ci_high`; a number that is None is unknown, and shown as such.
        margins: lines to draw: `value` (an oriented change) and `name`, what draws the line there.
        title: what the axis of changes says.
        palette: colours.
    """
    decided = alt.Scale(domain=list(_DECISIONS), range=[palette.passing, palette.failing, palette.undecided])
    shapes = alt.Scale(domain=list(_DECISIONS), range=list(_DECISIONS.values()))
    named = _lines(rows, palette)
    known = _chart([row for row in rows if row["mean_delta"] is not None])
    told = [
        alt.Tooltip("label:N", title="candidate"),
        alt.Tooltip("mean_delta:Q", title="oriented change", format=".4g"),
        alt.Tooltip("ci_low:Q", title="from", format=".4g"),
        alt.Tooltip("ci_high:Q", title="to", format=".4g"),
        alt.Tooltip("decision:N", title="verdict"),
    ]
    change = alt.X("ci_low:Q", title=title, axis=_numbers(palette))
    layers = [
        _chart([{"zero": 0}]).mark_rule(color=palette.muted).encode(x=alt.X("zero:Q", title=title)),
        _chart(margins)
        .mark_rule(color=palette.accent, strokeDash=[5, 3], strokeWidth=1.5)
        .encode(x=alt.X("value:Q", title=title), tooltip=[alt.Tooltip("name:N", title="line of")]),
        _chart([row for row in rows if None not in (row["ci_low"], row["ci_high"])])
        .mark_rule(strokeWidth=2)
        .encode(
            x=change, x2="ci_high:Q", y=named, color=alt.Color("decision:N", scale=decided, legend=_legend(palette))
        ),
        known.mark_point(filled=True, size=70, opacity=1).encode(
            x=alt.X("mean_delta:Q", title=title),
            y=named,
            color=alt.Color("decision:N", scale=decided, legend=_legend(palette)),
            shape=alt.Shape("decision:N", scale=shapes, legend=_legend(palette)),
            tooltip=told,
        ),
        _chart([{"label": row["label"], "zero": 0} for row in rows if row["mean_delta"] is None])
        .mark_text(align="left", dx=5, text="unknown", color=palette.muted, fontStyle="italic")
        .encode(x=alt.X("zero:Q", title=title), y=named),
    ]
    return _finished(layers, palette, height=_ROW * max(len(rows), 1))


def coverage_grid(rows: Rows, *, palette: Palette = LIGHT) -> alt.LayerChart:
    """Return the coverage grid: a candidate a line, cases (or bins of them) across, and what is not whole marked.

    Args:
        rows: one for each candidate and bin of cases, in the order in which they are drawn: `label` (unique), `bin` (a
            whole number), `cases` (what the bin holds, in words), `cells` (declared cells of the candidate there),
            `class` (what most of those are that did not succeed, one of `CELL_CLASSES`, or `success`), `affected` (how
            many of them did not succeed), and, where a click is to lead somewhere, `href`.
        palette: colours.
    """
    bins = len({row["bin"] for row in rows}) or 1
    classes = list(CELL_CLASSES)
    colours = alt.Scale(domain=classes, range=[getattr(palette, each) for each in classes])
    shapes = alt.Scale(domain=classes, range=list(CELL_CLASSES.values()))
    across = alt.X("bin:O", title="cases, in declared order", axis=alt.Axis(labels=False, ticks=False, domain=False))
    named = _lines(rows, palette)
    told = [
        alt.Tooltip("label:N", title="candidate"),
        alt.Tooltip("cases:N", title="cases"),
        alt.Tooltip("class:N", title="mostly"),
        alt.Tooltip("affected:Q", title="cells not whole"),
        alt.Tooltip("cells:Q", title="declared cells"),
    ]
    whole = [row for row in rows if row["class"] == "success"]
    broken = [{**row, "share": row["affected"] / max(row["cells"], 1)} for row in rows if row["class"] != "success"]
    gap = 1 if bins <= 60 else 0
    layers = [
        _chart([*whole, *broken])
        .mark_rect(color=palette.line, stroke=palette.surface, strokeWidth=gap)
        .encode(x=across, y=named),
        # How large the share is says the shade: a mark alike for one cell of a hundred and for all would mislead, and
        # so would its area.
        _chart(broken)
        .mark_rect(stroke=palette.surface, strokeWidth=gap)
        .encode(
            x=across,
            y=named,
            color=alt.Color("class:N", scale=colours, legend=_legend(palette, labelExpr=_CLASS_NAMES)),
            opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.4]), legend=None),
        ),
        _chart(broken)
        .mark_point(filled=True, opacity=1, size=70 if bins <= 36 else 40)
        .encode(
            x=across,
            y=named,
            color=alt.Color("class:N", scale=colours, legend=_legend(palette, labelExpr=_CLASS_NAMES)),
            shape=alt.Shape("class:N", scale=shapes, legend=_legend(palette, labelExpr=_CLASS_NAMES)),
            tooltip=told,
            **({"href": "href:N"} if any("href" in row for row in broken) else {}),
        ),
    ]
    return _finished(layers, palette, height=_ROW * max(len({row["label"] for row in rows}), 1))


def slopes(rows: Rows, *, title: str = "value", palette: Palette = LIGHT) -> alt.LayerChart:
    """Return paired slopes of one candidate and metric: from the baseline's value to the candidate's, case by case.

    Args:
        rows: one for each case, or for each group of cases alike: `case` (its name, or what the group holds),
            `baseline_value`, `candidate_value` in the metric's own unit, `outcome` (better, worse or same) and `cases`
            (how many the slope stands for).
        title: the metric, with its unit.
        palette: colours.
    """
    outcomes = ["better", "worse", "same"]
    colours = alt.Scale(domain=outcomes, range=[palette.accent, palette.failing, palette.muted])
    dashes = alt.Scale(domain=outcomes, range=[[1, 0], [6, 3], [2, 3]])
    most = max((row["cases"] for row in rows), default=1)
    ends = [
        {**row, "slope": ix, "arm": arm, "value": row[f"{arm}_value"]}
        for ix, row in enumerate(rows)
        for arm in ("baseline", "candidate")
    ]
    told = [
        alt.Tooltip("case:N", title="case"),
        alt.Tooltip("baseline_value:Q", title="baseline", format=".4g"),
        alt.Tooltip("candidate_value:Q", title="candidate", format=".4g"),
        alt.Tooltip("cases:Q", title="cases"),
    ]
    arm = alt.X(
        "arm:N",
        sort=["baseline", "candidate"],
        title=None,
        scale=alt.Scale(type="point", padding=0.2),
        axis=alt.Axis(labelAngle=0, labelColor=palette.muted, domain=False, ticks=False),
    )
    value = alt.Y("value:Q", title=title, axis=_numbers(palette), scale=alt.Scale(zero=False))
    strokes = _legend(palette, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=300)
    colour = alt.Color("outcome:N", scale=colours, legend=strokes)
    width = alt.StrokeWidth("cases:Q", scale=alt.Scale(domain=[1, max(most, 2)], range=[1.2, 9]), legend=None)
    lines = (
        _chart(ends)
        .mark_line(opacity=0.75, strokeCap="round")
        .encode(
            x=arm,
            y=value,
            detail="slope:N",
            color=colour,
            strokeDash=alt.StrokeDash("outcome:N", scale=dashes, legend=strokes),
            strokeWidth=width,
        )
    )
    points = (
        _chart(ends).mark_point(filled=True, size=28, opacity=0.9).encode(x=arm, y=value, color=colour, tooltip=told)
    )
    return _finished([lines, points], palette, height=260)


def pareto(rows: Rows, *, x_title: str, y_title: str, palette: Palette = LIGHT) -> alt.LayerChart:
    """Return the scatter of two metrics: candidates that nothing dominates stand out.

    Args:
        rows: one for each point: `label`, `x` and `y` (means in the metrics' own units), `standing` (one of
            `STANDINGS`), and `is_named`, whether its name stands beside it.
        x_title: metric across, with what is better.
        y_title: metric upwards, with what is better.
        palette: colours.
    """
    colours = {
        "selected": palette.accent,
        "front": palette.accent,
        "dominated": palette.muted,
        "unrankable": palette.undecided,
        "not passing": palette.failing,
        "baseline": palette.ink,
    }
    shown = [each for each in STANDINGS if any(row["standing"] == each for row in rows)]
    scale = alt.Scale(domain=shown, range=[colours[each] for each in shown])
    shapes = alt.Scale(domain=shown, range=[STANDINGS[each] for each in shown])
    x = alt.X("x:Q", title=x_title, axis=_numbers(palette), scale=alt.Scale(zero=False, padding=16))
    y = alt.Y("y:Q", title=y_title, axis=_numbers(palette), scale=alt.Scale(zero=False, padding=16))
    points = (
        _chart(rows)
        .mark_point(filled=True, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=alt.Color("standing:N", scale=scale, legend=_legend(palette)),
            shape=alt.Shape("standing:N", scale=shapes, legend=_legend(palette)),
            size=alt.condition(alt.datum.standing == "selected", alt.value(150), alt.value(70)),
            tooltip=[
                alt.Tooltip("label:N", title="candidate"),
                alt.Tooltip("x:Q", title="across", format=".4g"),
                alt.Tooltip("y:Q", title="upwards", format=".4g"),
                alt.Tooltip("standing:N", title="standing"),
            ],
        )
    )
    names = (
        _chart([row for row in rows if row["is_named"]])
        .mark_text(align="left", dx=9, dy=-7, color=palette.ink, limit=110)
        .encode(x=x, y=y, text="label:N")
    )
    return _finished([points, names], palette, height=300)


def _chart(rows: Rows) -> alt.Chart:
    """Return a chart over rows that stand in its specification."""
    return alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))


def _lines(rows: Rows, palette: Palette) -> alt.Y:
    """Return the axis of names, one a line, in the order of the rows."""
    # Told outright: the layers of a chart show some of the rows each, and would order what is left to them.
    scale = alt.Scale(domain=list(dict.fromkeys(row["label"] for row in rows)))
    axis = alt.Axis(labelColor=palette.ink, labelFontSize=12, labelLimit=150, domain=False, ticks=False, labelPadding=8)
    return alt.Y("label:N", scale=scale, title=None, axis=axis)


def _numbers(palette: Palette) -> alt.Axis:
    return alt.Axis(gridColor=palette.line, domain=False, ticks=False, labelPadding=6, tickCount=5)


def _legend(palette: Palette, **more: Any) -> alt.Legend:
    return alt.Legend(title=None, orient="top", labelColor=palette.muted, symbolOpacity=1, columns=4, **more)


def _finished(layers: list[alt.Chart], palette: Palette, *, height: int) -> alt.LayerChart:
    """Return layers as one chart, as wide as what holds it, on a surface that shows through."""
    # All at once: each further call would copy the rows of every layer.
    return alt.LayerChart(
        layer=[each for each in layers if each.data.values] or layers[:1],
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        background="transparent",
        padding=4,
        config=alt.Config(
            font=_FONT,
            view=alt.ViewConfig(stroke=None),
            axis=alt.AxisConfig(
                labelColor=palette.muted,
                labelFontSize=11.5,
                titleColor=palette.muted,
                titleFontSize=12,
                titleFontWeight="normal",
            ),
            legend=alt.LegendConfig(labelFontSize=12),
        ),
    )
