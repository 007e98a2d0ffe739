"""What the pages read: parts, each one query in a file of its own, by the reading that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from opfield.report.parts import ORDERS
from opfield.report.parts import queries as report_queries
from opfield.warehouse.sql_text import names_read, read_ahead, split_header

_FOLDER: Final = Path(__file__).parent / "sql"

#: Parts by reading, in the order in which they are computed: a part may read those before it.
READINGS: Final[Mapping[str, tuple[str, ...]]] = {
    # All campaigns, one row each.
    "listing": ("awaiting", "listed"),
    # How far one campaign is: what is cheap to ask, and changes with every cell.
    "standing": ("focus", "listed_candidates", "awaiting", "facts", "arms", "failures", "latest", "coverage", "costs"),
    # What one campaign's policy says: dear to ask, since every view of a verdict is bound.
    "verdict": ("focus", "verdicts", "ladder", "changes", "margins", "conclusion"),
    # One candidate, case by case.
    "candidate": ("focus", "listed_candidates", "described", "cases_changed", "slopes"),
    # One case, on all arms.
    "case": ("focus", "listed_candidates", "case_facts", "case_cells", "case_changes"),
}

#: Parts that the report asks for in the same words.
_SHARED: Final = ("focus", "coverage", "margins", "slopes")


@cache
def part_queries(reading: str) -> dict[str, str]:
    """Return the queries of a reading by part, each a SELECT over relations of the warehouse and earlier parts."""
    found = {}
    for name in READINGS[reading]:
        if name in _SHARED:
            found[name] = report_queries()[name].sql
        else:
            found[name] = split_header((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))[1].strip()
    read_ahead(found.values())
    return found


@cache
def names_asked(reading: str) -> frozenset[str]:
    """Return the names of relations, tables, macros and functions that the parts of a reading name."""
    return frozenset().union(*(names for sql in part_queries(reading).values() for names in names_read(sql)))


def table_of(part: str) -> str:
    """Return the name of the table that holds a part; those that other parts read are called as they are."""
    return part if part in ORDERS else f"part_{part}"
