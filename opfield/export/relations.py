"""What can be exported, and in which order its rows stand: a query for each relation, and the columns' meanings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from opfield.errors import unknown_name
from opfield.export.wide import WIDE, WIDE_MEANING, wide_columns, wide_query
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, load_contract, load_practice_contract
from opfield.warehouse.relations import known_relations
from opfield.warehouse.session import Warehouse
from opfield.warehouse.views import installed_views

#: What the rows of a table are ordered by, so that texts and contents need not be compared; digests stand for them. The
#: rows of every other relation are ordered by its columns from left to right, which begin with its key.
TABLE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "events": ("campaign_id", "sequence", "digest"),
    "cells": ("campaign_id", "candidate_id", "case_id", "repeat", "arm", "sequence"),
    "measurements": ("campaign_id", "candidate_id", "case_id", "repeat", "arm", "metric", "value", "missing_reason"),
    "cases": ("campaign_id", "case_ix", "case_id", "case_digest"),
    "candidates": ("campaign_id", "candidate_id", "label"),
    "metrics": ("campaign_id", "metric"),
    "artifacts": ("campaign_id", "artifact_id", "location"),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """One relation to be exported.

    Attributes:
        name: its name.
        query: SELECT of its rows in their order.
        meaning: what it holds, in words.
        columns: column to meaning.
        is_large: whether it has a row for each cell or more, and can be sorted on disk.
        metrics: column to the metric that it holds, in the wide form; empty for others.
    """

    name: str
    query: str
    meaning: str
    columns: Mapping[str, str]
    is_large: bool
    metrics: Mapping[str, str] = field(default_factory=dict)


def exported(opened: Warehouse, name: str) -> Exported:
    """Return how a relation is exported.

    Args:
        opened: the warehouse; of the wide form the metrics are read from it.
        name: a table or relation, or `wide`.

    Raises:
        UnknownNameError: listing the known relations.
    """
    if name == WIDE:
        columns = wide_columns(opened)
        meanings = {
            column: f"What a comparison counts of {metric}: its value, or what a domain failure is worth."
            for column, metric in columns.counted.items()
        }
        query = wide_query(columns)
        return Exported(name, query, WIDE_MEANING, meanings, is_large=True, metrics=columns.measured)
    known = known_relations()
    if name not in known:
        raise unknown_name("relation", name, known)
    if name in TABLE_KEYS or name in PRACTICE_TABLE_NAMES:
        table = load_contract()[name] if name in TABLE_KEYS else load_practice_contract()[name]
        order = ", ".join(TABLE_KEYS.get(name, ("all",)))
        meanings = {column.name: column.comment for column in table.columns}
        return Exported(name, f"from {name} order by {order}", table.comment, meanings, is_large=True)
    relation = installed_views().named[name]
    return Exported(name, f"from {name} order by all", relation.meaning, relation.columns, is_large=False)
