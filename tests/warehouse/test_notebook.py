from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import opfield as of
from opfield.campaign.pilot import Pilot
from opfield.campaign.power import PlannedSize, PowerPlan
from opfield.errors import OpfieldError
from opfield.warehouse.notebook import COLOURS, ROWS, TEXT, Shown, facts_html, shown, table_html
from opfield.warehouse.session import Warehouse
from tests.export.odd import FORMULA

#: What a page may be made of: no script, no link, no image, no handler.
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "span", "p"}
ATTRIBUTES = {"style", "scope", "title"}


class Read(HTMLParser):
    """Reads HTML, refusing what display has no use for, and keeps the text of each cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        assert all("url" not in (value or "") for _, value in attrs)
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if set(self.open) & {"td", "th"}:
            self.cells[-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def cells_of(html: str) -> list[str]:
    reader = Read()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.cells


HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</td></table>",
        "&lt;",
        "\x1b[31m",
        "\u202eabc",
        "]]>",
    ]
)


@given(st.text() | HOSTILE, st.text() | HOSTILE, st.sampled_from(["decision", "message"]))
def test_any_text_is_shown_as_text(text: str, title: str, column: str) -> None:
    html = table_html(Shown(title, (column, title), ((text, None),), 1))
    heading, other, shown_text, unknown = cells_of(html)
    assert (heading, unknown) == (column, "–")
    if text.isprintable() and len(text) <= TEXT:
        assert shown_text == text
    if title.isprintable() and len(title) <= TEXT:
        assert other == title
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\u202e]", html)
    assert cells_of(facts_html(title, {title: text}))


def test_long_text_is_cut_with_its_length_told() -> None:
    (_, cell) = cells_of(table_html(Shown("t", ("message",), (("x" * 1_234_567,),), 1)))
    assert cell == f"{'x' * TEXT}… (1,234,567 characters)"


@pytest.mark.parametrize("word", COLOURS)
def test_a_verdict_is_a_word_in_a_colour_with_contrast(word: str) -> None:
    html = table_html(Shown("t", ("decision", "label"), ((word, word),), 1))
    assert cells_of(html)[2:] == [word, word]
    assert html.count(COLOURS[word]) == 1  # in a column of verdicts only
    channels = [int(COLOURS[word][at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5  # white on it, WCAG AA


def test_what_is_cut_is_counted() -> None:
    rows = tuple((ix,) for ix in range(ROWS))
    assert f"first {ROWS} of 1,234 rows" in table_html(Shown("t", ("n",), rows, 1_234))
    assert "50 rows" in table_html(Shown("t", ("n",), rows, ROWS))
    assert "0 rows" in table_html(Shown("t", ("n",), (), 0))


def test_relations_queries_and_warehouses_are_shown(odd_root: Path) -> None:
    opened = Warehouse(odd_root, is_snapshot=True)
    told = opened.show("decisions")
    assert (told.count, told.columns[:3]) == (1, ("campaign_id", "candidate_id", "label"))
    assert FORMULA in cells_of(told._repr_html_())
    assert repr(told) == "<decisions: 1 row>"
    many = opened.show("select case_id, metric, value from measurements order by all;")
    assert (many.count, len(many.rows), many.columns) == (60, ROWS, ("case_id", "metric", "value"))
    assert [row[0] for row in many.rows] == sorted(row[0] for row in many.rows)
    assert opened.show("from cells where false").count == 0
    campaigns = cells_of(opened._repr_html_())
    assert {"odd", "completed", "kept_baseline", "baseline"} <= set(campaigns)


@pytest.mark.parametrize(
    ("relation", "message"), [("decision", "did you mean 'decisions'"), ("select nothing", "nothing"), ("", "query")]
)
def test_what_cannot_be_shown_is_said(odd_root: Path, relation: str, message: str) -> None:
    with pytest.raises(OpfieldError, match=message):
        shown(Warehouse(odd_root, is_snapshot=True), relation)


def test_a_warehouse_that_cannot_be_read_says_so_instead_of_raising(tmp_path: Path) -> None:
    html = Warehouse(tmp_path / "<none>", is_snapshot=True)._repr_html_()
    assert "&lt;none&gt;" in html
    assert "cannot be read" in html
    assert cells_of(html) == []


def test_an_outcome_and_a_plan_are_shown() -> None:
    outcome = of.Outcome("sha256:c", "completed", "sha256:s", "selected", reason="<b>")
    assert "<b>" in cells_of(outcome._repr_html_())
    assert COLOURS["selected"] in outcome._repr_html_()
    size = PlannedSize(repeats=2, cases=30, cells=120, power=0.8, smallest_effect=0.25)
    pilot = cast(Pilot, None)  # what is shown does not look into it
    plan = PowerPlan(of.PowerQuestion(0.5), pilot, (size,), size, 0.5, 0.75, None)
    assert {"smallest_effect", "0.25", "pilot_power", "0.5", "–"} <= set(cells_of(plan._repr_html_()))
