from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from opfield.dashboard import Address, Board, as_html
from tests.dashboard.campaigns import HOSTILE

NAME = "<script>alert('name')</script>"

QUERIES = [
    {},
    {"q": "<script>alert('q')</script>"},
    {"campaign": NAME},
    {"campaign": NAME, "candidate": "<u>more</u>"},
    {"campaign": NAME, "case": HOSTILE},
    {"campaign": "<script>alert('campaign')</script>"},
    {"campaign": NAME, "candidate": "<script>alert('candidate')</script>"},
    {"campaign": NAME, "case": "<script>alert('case')</script>"},
]


class Tags(HTMLParser):
    """The tags of a page, and the attributes that could run something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.running: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.running += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]


@pytest.mark.parametrize("query", QUERIES)
def test_what_users_wrote_is_text(board: Board, query: dict[str, str]) -> None:
    page = as_html(board.view(Address.of(query)))
    found = Tags()
    found.feed(page)

    assert found.tags & {"script", "img", "u", "b"} <= {"b"}
    assert found.running == []
    assert len(page) < 200_000


def test_a_message_of_megabytes_is_cut_with_its_length_stated(board: Board) -> None:
    page = as_html(board.view(Address.of({"campaign": NAME, "case": HOSTILE})))

    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert " characters)" in page


def test_evidence_is_text_cut_with_its_length_stated(board: Board) -> None:
    page = as_html(board.view(Address.of({"campaign": NAME, "case": "b"})))

    assert "&lt;script&gt;alert(&#39;evidence&#39;)&lt;/script&gt;eee" in page
    assert "… (10034 characters)" in page


def test_a_cost_that_nobody_saw_is_unknown_never_zero(board: Board) -> None:
    page = as_html(board.view(Address.of({"campaign": NAME})))
    costs = page[page.index("op-costs") :]

    assert costs.count('<span class="op-unknown">unknown</span>') >= 12
    assert "0 / 3" in costs
    assert ">0<" not in costs


def test_the_same_view_gives_the_same_bytes(finished: Path, board: Board) -> None:
    another = Board(finished, patience_s=60)
    for query in QUERIES:
        address = Address.of(query)
        assert as_html(board.view(address)) == as_html(another.view(address))
