"""What a report says: one campaign, read through the warehouse's relations into plain, ordered data.

Every number is the row of a query that stands beside it. Nothing here counts, estimates or judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from opfield.campaign.damage import undamaged
from opfield.campaign.judge import judging_views
from opfield.campaign.reducer import fold
from opfield.core import canonical_json, digest
from opfield.errors import OpfieldError, WarehouseError
from opfield.report.evidence import read_evidence
from opfield.report.parts import ORDERS, TEXTS, Query, queries
from opfield.warehouse.lock import holder_of
from opfield.warehouse.session import connect_snapshot, first_event, read_rows
from opfield.warehouse.views import ViewSet, installed_views

#: Names the form of the content, so that a digest of one form never stands for another.
FORMAT: Final = "opfield.report/v2"

#: Integers beyond this have no exact double, and so no canonical form; they are told as doubles.
_MOST_EXACT: Final = 2**53 - 1

#: How relations that other parts read are told themselves.
_ORDERED: Final = {"listed_candidates": "from listed_candidates where is_listed order by position"}


def read_report(root: Path, campaign_id: str, *, has_texts: bool = True) -> dict[str, Any]:
    """Return the content of a campaign's report.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        has_texts: whether texts of cases, artifacts and failure messages stand in it.

    Returns:
        Plain data with a canonical form: `report_digest` is the digest of all the rest. `parts` holds, by name, the
        `rows` of a query, how many rows it leaves out (`left_out`), what a row is (`meaning`) and its `sql`; `rows`
        is None where the SQL that judges the campaign cannot answer, which `problem` says.

    Raises:
        DamageError: where files of the campaign are not what was written; with the audit's findings.
        WarehouseError: where the campaign has no history here.
    """
    holder = holder_of(root, campaign_id)
    with undamaged(root, campaign_id, "report"):
        first = first_event(root, campaign_id)
        if first is None:
            raise WarehouseError(f"campaign {campaign_id} has no history in {root}")
        parts = _read_parts(root, campaign_id, judging_views(root, campaign_id, fold([first]).started))
        if parts["wholeness"]["rows"] and holder is None:
            raise WarehouseError("the files do not hold what the ledger accepted")
        artifacts = read_evidence(root, campaign_id, parts) if has_texts else []
    content: dict[str, Any] = {
        "format": FORMAT,
        "opfield": version("opfield"),
        "has_texts": has_texts,
        "parts": parts if has_texts else _without_texts(parts),
        "artifacts": artifacts,
    }
    return {"report_digest": digest(FORMAT, canonical_json(content)), **content}


def _read_parts(root: Path, campaign_id: str, views: ViewSet) -> dict[str, dict[str, Any]]:
    known = {each.name: each.relations & views.named.keys() for each in queries().values()}
    # Views that a campaign kept are read anew; the installed ones are shared, whatever gate kinds are left out.
    is_current = views.named["decisions"] is installed_views().named["decisions"]
    with closing(connect_snapshot(root, campaign_id, set().union(*known.values()), views)) as con:
        for name in ORDERS:
            con.execute(f"create or replace temp table {name} as {queries()[name].sql}")
        parts = {}
        for query in queries().values():
            try:
                rows, problem = read_rows(con, _ORDERED.get(query.name, query.sql)), None
            except OpfieldError as error:
                if is_current or isinstance(error, WarehouseError):
                    raise
                # A campaign is judged by the SQL that it was declared under, which may not know what is asked here.
                rows, problem = None, f"the SQL that judges this campaign cannot answer: {str(error).splitlines()[0]}"
            parts[query.name] = _part(query, rows, problem)
    return parts


def _part(query: Query, rows: list[dict[str, Any]] | None, problem: str | None) -> dict[str, Any]:
    in_all = rows[0].get("in_all") if rows else None
    return {
        "meaning": query.meaning,
        "sql": query.sql,
        "problem": problem,
        "left_out": in_all - len(rows) if rows and in_all is not None else 0,
        "rows": None
        if rows is None
        else [{name: _plain(value) for name, value in row.items() if name != "in_all"} for row in rows],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MOST_EXACT:
        return float(value)
    return value


def _without_texts(parts: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {**part, "rows": [{**row, **dict.fromkeys(TEXTS[name])} for row in part["rows"]]}
        if name in TEXTS and part["rows"]
        else part
        for name, part in parts.items()
    }
