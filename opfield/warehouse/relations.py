"""The names of everything in a warehouse that can be read."""

from __future__ import annotations

from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES
from opfield.warehouse.views import installed_views


def known_relations() -> tuple[str, ...]:
    """Return the names of all tables and relations: the campaigns' tables, those that belong to none, the views."""
    views = sorted(each.name for each in installed_views().relations.values() if not each.is_macro)
    return (*TABLE_NAMES, *PRACTICE_TABLE_NAMES, *views)
