"""The page about gates tells of every kind that there is."""

from __future__ import annotations

from pathlib import Path

from opfield.warehouse.views import load_views

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gates.md"


def test_every_gate_kind_has_a_section_in_the_page() -> None:
    sections = {line.removeprefix("## ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "## "}
    assert set(load_views().gate_kinds) - sections == set()


def test_no_measured_rate_in_the_page_exceeds_its_bound() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 100
    assert [row for row in rows if "% !" in row or "{{" in row] == []
