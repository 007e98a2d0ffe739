"""The verdict in one sentence, for every kind of ending, and Markdown that nothing in it can break out of."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.report.markdown import escaped, render_markdown
from opfield.report.text import all_visible, number, visible
from opfield.report.words import verdict_in_words
from tests.report.conftest import Made

Make = Callable[[str], Made]

SENTENCES = {
    "win": "Adopt “largest”: it passes every gate, and score goes from 0.479 to 0.599.",
    "loss": "Keep the baseline: both candidates fail.",
    "missing_evidence": "No decision: the evidence cannot judge 2 candidates, and 1 fails; the baseline stays.",
    "no_candidates": "There is no candidate, so nothing is compared; the baseline stays.",
    "no_preference": (
        "Keep the baseline: 1 candidate passes, but nothing can be selected, since the policy names no preferred "
        "metric."
    ),
    "not_ended": "Every declared cell is there, but the campaign is not ended, so no verdict stands yet.",
    "awaiting_review": (
        "Everything is measured, and 2 candidates need the approval of people before a verdict stands."
    ),
    "multilingual": "Adopt “\u2068更大的块 🧩\u2069”: it passes every gate, and score goes from 0.387 to 0.542.",
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_verdict_is_one_sentence(made: Make, kind: str) -> None:
    assert verdict_in_words(made(kind).content["parts"]).sentence == SENTENCES[kind]


@pytest.mark.parametrize("kind", ["cancelled", "unfinished"])
def test_a_campaign_without_its_end_says_how_far_it_came(made: Make, kind: str) -> None:
    both = made(kind).rows("denominator")[0]
    told = verdict_in_words(made(kind).content["parts"])
    assert told.standing == kind
    assert str(both["accepted" if kind == "cancelled" else "missing"]) in told.sentence


@pytest.mark.parametrize(("kind", "remedy"), [("no_preference", "`prefer=`"), ("not_ended", "`opfield resume`")])
def test_what_would_change_a_verdict_is_the_remedy_of_the_view(made: Make, kind: str, remedy: str) -> None:
    (first, *_) = verdict_in_words(made(kind).content["parts"]).changes
    assert remedy in first
    assert first == f"{made(kind).rows('conclusion')[0]['remedy']}.".replace("a policy", "A policy")


def test_what_would_change_a_verdict_names_the_gate_and_what_it_says(made: Make) -> None:
    (first, *_) = verdict_in_words(made("missing_evidence").content["parts"]).changes
    message = made("missing_evidence").rows("candidates")[0]["message"]
    assert "“largest” and 1 other stay open at failures" in first
    assert message in first


@given(st.text(max_size=300))
def test_markdown_shows_any_text_as_text_on_one_line(told: str) -> None:
    shown = escaped(visible(told))
    assert "\n" not in shown
    assert not re.search(r"[<>@]", shown)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]]", shown)
    assert "://" not in shown


@given(st.text())
def test_nothing_hidden_is_left_in_what_is_visible(told: str) -> None:
    shown = visible(told)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", shown)
    assert visible(shown) == shown


@given(st.floats(min_value=-1e100, max_value=1e100))
def test_a_short_number_is_the_number(value: float) -> None:
    read = float(number(value, 4).replace("−", "-").replace(",", ""))
    assert read == pytest.approx(value, rel=6e-4, abs=1e-300)


def test_a_comment_tells_the_verdict_the_table_and_where_it_comes_from(made: Make) -> None:
    told = render_markdown(made("win").content)
    assert told.startswith(f"### ✅ {SENTENCES['win']}")
    assert "| **largest** | gain = 0.12 (was 0) | ✅ pass |" in told
    assert "240 of 240 declared cells succeeded" in told
    assert len(told) < 4000


def test_a_comment_tells_how_many_pairs_its_means_are_over(made: Make) -> None:
    told = render_markdown(made("missing_evidence").content)
    assert "| 48 of 60 |" in told
    assert "Means are over the pairs found: 3 candidates lack some" in told
    assert "14 domain failures, 24 infrastructure failures" in told
    whole = render_markdown(made("no_preference").content)
    assert "| 8 of 8 |" in whole
    assert "Means are over" not in whole
    assert "The cluster is the unit: 8 cases in 4 clusters." in whole


def test_hostile_names_cannot_break_out_of_a_comment(made: Make) -> None:
    told = render_markdown(made("hostile").content)
    body = told[: told.rindex("<!-- opfield-report")]
    assert re.findall(r"<[^>]*>", body) == ["<sub>", "</sub>"]
    assert "@" not in body
    assert "\x1b" not in body
    assert len({line.count("|") - line.count("\\|") for line in body.splitlines() if line.startswith("|")}) == 1


def test_all_text_of_a_content_is_made_visible() -> None:
    assert all_visible({"a": ["\x1b[1m", {"b": "\u202e"}], "c": 1}) == {"a": ["\\x1b[1m", {"b": "\\u202e"}], "c": 1}
