"""Tables as people see them; rich's own table is the oracle of the layout."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from opfield.cli import render
from opfield.cli.render import STYLES, cell, print_json, print_table, visible

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False),
    st.sampled_from(["", *STYLES, " lead", "trail ", "日本語", "e\u0301", "[bold]x[/]", "tab\there", "two\nlines"]),
    st.text(max_size=8),
    st.just("x" * 130),
)


@given(rows=st.lists(st.fixed_dictionaries({"a": VALUES, "候補 b": VALUES, "c": VALUES}), min_size=1, max_size=5))
def test_a_table_is_laid_out_as_rich_lays_it_out(rows: list[dict[str, Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        printed = io.StringIO()
        patch.setattr("sys.stdout", printed)
        print_table(rows)
        expected = io.StringIO()
        patch.setattr("sys.stdout", expected)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in rows[0]:
            is_number = all(row[name] is None or isinstance(row[name], int | float) for row in rows)
            table.add_column(Text(visible(name)), justify="right" if is_number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(cell(row[name])) for name in rows[0]))
        render.out().print(table)
    assert printed.getvalue() == expected.getvalue()


def test_on_a_terminal_headings_are_bold_and_verdicts_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    console = Console(file=printed, width=200, force_terminal=True, color_system="standard", highlight=False)
    monkeypatch.setattr(render, "out", lambda: console)
    print_table([{"name": "a", "n": 10, "status": "pass"}, {"name": "bc", "n": None, "status": "fail"}])
    assert printed.getvalue().splitlines() == [
        "\x1b[1mname\x1b[0m   \x1b[1mn\x1b[0m  \x1b[1mstatus\x1b[0m",
        "a     10  \x1b[32mpass\x1b[0m  ",
        "bc     –  \x1b[31mfail\x1b[0m  ",
    ]


@pytest.mark.parametrize(
    "sign", ["\x1b", "\u2028", "\u2029", "\u202e", "\u2066", "\u200b", "\u200f", "\ufeff", "\u00ad"]
)
def test_what_hides_in_a_text_is_spelled_out_and_json_still_means_it(
    capsys: pytest.CaptureFixture[str], sign: str
) -> None:
    print_json({"name": f"a{sign}b"})
    told = capsys.readouterr().out
    assert sign not in told
    assert json.loads(told) == {"name": f"a{sign}b"}
    assert cell(f"a{sign}b") == f"a{sign.encode('unicode_escape').decode()}b"
