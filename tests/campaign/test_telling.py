"""A campaign that kept older SQL is told of in today's words, as far as its own relations can be read by them."""

from __future__ import annotations

from opfield.campaign.judge import TELLING, with_telling
from opfield.warehouse.views import ViewSet, installed_views

KEPT = {name: text for name, text in installed_views().sources().items() if name not in TELLING or name == "in_words"}


def test_what_only_tells_is_added_and_what_judges_stays() -> None:
    kept = {**KEPT, "decisions": KEPT["decisions"] + "\n-- as it was"}
    told = with_telling(kept)
    assert told.keys() - kept.keys() == set(TELLING) - {"in_words"}
    assert {name: told[name] for name in kept} == kept
    assert "conclusions" in ViewSet.from_sources(told).relations


def test_what_cannot_read_what_was_kept_is_left_out() -> None:
    kept = {name: text for name, text in KEPT.items() if "awaiting_reviews" not in text and name != "awaiting_reviews"}
    told = with_telling(kept)
    assert "conclusions" not in told
    assert "arm_cells" in told
    assert "arm_cells" in ViewSet.from_sources(told).relations
