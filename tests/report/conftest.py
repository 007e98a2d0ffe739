"""Campaigns of a kind, each made once for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from opfield.report.content import read_report
from opfield.report.page import render_html
from tests.report.campaigns import KINDS


@dataclass(frozen=True)
class Made:
    """A campaign in a warehouse of its own."""

    root: Path
    campaign_id: str

    @cached_property
    def content(self) -> dict[str, Any]:
        return read_report(self.root, self.campaign_id)

    @cached_property
    def page(self) -> str:
        return render_html(self.content)

    def rows(self, part: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.content["parts"][part]["rows"]
        return found


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """Return what makes a campaign of a kind."""
    known: dict[str, Made] = {}

    def make(kind: str) -> Made:
        if kind not in known:
            root = tmp_path_factory.mktemp(kind) / "warehouse"
            known[kind] = Made(root, KINDS[kind](root))
        return known[kind]

    return make
