"""The page of reference: its table names tests that exist, and its list of reasons is the list of reasons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from opfield.practice import MEANINGS, BindingReason

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "reference" / "practice.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)
    assert len(named) > 30
    for file, test in named:
        folder = "domains" if file == "test_practice.py" else "practice"
        source = (ROOT / "tests" / folder / file).read_text(encoding="utf-8")
        assert f"def {test}(" in source, f"{file}::{test}"


def test_every_obligation_stands_on_the_page() -> None:
    numbers = [int(each) for each in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]
    assert numbers == list(range(1, 26))
    assert len(re.findall(r"^\| \+ \|", PAGE, re.MULTILINE)) == 5


def test_the_page_lists_every_reason_with_its_meaning_in_order() -> None:
    listed = re.findall(r"^\| ([a-z_]+_[a-z_]+) \| (.+) \|$", PAGE.partition("## Reasons")[2], re.MULTILINE)
    assert listed == [(each.value, MEANINGS[each]) for each in BindingReason]
