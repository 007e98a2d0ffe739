"""Parts of a report: what it reads, each part one query of its own beside this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from opfield.warehouse.sql_text import names_read, read_ahead, split_header

_FOLDER: Final = Path(__file__).parent / "sql"

#: Relations that the parts read beside those of the warehouse, in this order.
ORDERS: Final = ("focus", "listed_candidates")

#: The parts, in the order in which they are read.
PARTS: Final = (
    "campaign",
    "denominator",
    "wholeness",
    "conclusion",
    "selection",
    "standings",
    "candidates",
    "gates",
    "margins",
    "metrics",
    "comparisons",
    "arms",
    "coverage",
    "failures",
    "failing_cells",
    "slopes",
    "extremes",
    "pareto",
    "unrankable",
    "contenders",
    "costs",
    "strata",
    "scopes",
    "timing",
    "records",
    "awaiting",
)

#: Members that may hold what cases, answers or prompts say, by part: left out of a report that travels.
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "candidates": ("hypothesis", "changes"),
    "extremes": ("input",),
    "failing_cells": ("failure_message",),
    "failures": ("example",),
}


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a report.

    Attributes:
        name: name of the part, and of its file.
        meaning: header of the file, bare of dashes: what a row is.
        sql: the SELECT.
    """

    name: str
    meaning: str
    sql: str

    @property
    def relations(self) -> frozenset[str]:
        """Names of the relations and functions that it reads."""
        return frozenset().union(*names_read(self.sql))


@cache
def queries() -> dict[str, Query]:
    """Return the queries by name: the orders that others read first, then the parts."""
    found = {}
    for name in (*ORDERS, *PARTS):
        header, sql = split_header((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
        found[name] = Query(name, header, sql.strip())
    # Parsed at once: that takes as long as parsing one.
    read_ahead(each.sql for each in found.values())
    return found
