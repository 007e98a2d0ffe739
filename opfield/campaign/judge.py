"""Verdicts as the views give them: read, never computed here (DESIGN §7, §8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.campaign.prepare import policy_digest
from opfield.core import parse_json
from opfield.warehouse.material import find_artifact
from opfield.warehouse.session import connect_snapshot, read_rows
from opfield.warehouse.sql_text import names_read
from opfield.warehouse.views import TABLES, ViewSet, installed_views

#: Relations and macros that tell what others decide or count. A campaign that kept SQL without them is told of by those
#: that are installed; each stands after what it reads.
TELLING: Final = (
    "counted",
    "shown",
    "plain",
    "change_in_words",
    "scope_in_words",
    "in_words",
    "named_candidates",
    "spec_changes",
    "arm_cells",
    "conclusions",
)


def judging_views(root: Path, campaign_id: str, started: Mapping[str, Any]) -> ViewSet:
    """Return the relations by which a campaign is judged: those it was declared under, with the gates of its policy.

    They are the installed ones while their SQL is the same, and otherwise the ones that the campaign kept, with those
    of `TELLING` that it lacks.
    """
    policy = started["identity"]["policy"]
    kinds = {gate["kind"] for gate in policy["gates"]}
    if kinds <= set(installed_views().gate_kinds):
        installed = installed_views().restricted(kinds)
        if policy["sql"] == policy_digest(installed, kinds):
            return installed
    kept = parse_json(find_artifact(root, campaign_id, started["policy_artifact"]))
    return ViewSet.from_sources(with_telling(kept))


def with_telling(kept: Mapping[str, str]) -> dict[str, str]:
    """Return kept SQL with the relations that only tell what it gives, as far as they can read it."""
    sources = dict(kept)
    installed = installed_views()
    for name in TELLING:
        reads = names_read(installed.named[name].sql)[0] if not installed.named[name].is_macro else frozenset()
        if name not in sources and reads <= sources.keys() | TABLES:
            sources[name] = installed.named[name].sql
    return sources


def connect_judging(
    root: Path, campaign_id: str, started: Mapping[str, Any], names: Iterable[str]
) -> duckdb.DuckDBPyConnection:
    """Return a connection that answers these relations for one campaign, by the SQL that judges it."""
    return connect_snapshot(root, campaign_id, names, judging_views(root, campaign_id, started))


def review_gates(started: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the gates of a campaign's policy at which people decide, in order."""
    return [gate for gate in started["identity"]["policy"]["gates"] if gate["kind"] == "review"]


def awaited_reviews(root: Path, campaign_id: str, started: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the view `awaiting_reviews`, by label; nothing is read where no gate asks for reviews."""
    if not review_gates(started):
        return []
    with closing(connect_judging(root, campaign_id, started, ["awaiting_reviews"])) as con:
        return read_rows(con, "from awaiting_reviews order by label, candidate_id")


def early_looks(root: Path, campaign_id: str, started: Mapping[str, Any]) -> list[int]:
    """Return at how many cases, fewer than all, a campaign may stop: the early looks of its sequential gates.

    None where there is no such gate, and none beside a gate that infers but is not sequential: stopping where one gate
    likes it would break the error rate that the other declares for all cases.
    """
    if not any(gate["kind"] == "sequential" for gate in started["identity"]["policy"]["gates"]):
        return []
    query = """
        select distinct cases
        from looks
        where look > 0 and cases < $1
            and not exists (from inference_gates where kind <> 'sequential')
            and not exists (from policy_gates where kind = 'percentile')
        order by cases
    """
    with closing(connect_judging(root, campaign_id, started, ["looks", "inference_gates", "policy_gates"])) as con:
        return [int(cases) for (cases,) in con.execute(query, [started["cases"]]).fetchall()]


def is_settled(root: Path, campaign_id: str, started: Mapping[str, Any]) -> bool:
    """Return whether every sequential gate passes or fails every candidate already."""
    query = "select bool_and(status <> 'indeterminate') from gate_results where kind = 'sequential'"
    with closing(connect_judging(root, campaign_id, started, ["gate_results"])) as con:
        (row,) = con.execute(query).fetchall()
    return bool(row[0])


def verdict_payloads(
    con: duckdb.DuckDBPyConnection,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any] | None]:
    """Return what the views say now, in the form in which the ledger records it.

    Args:
        con: connection that answers `JUDGING` for one campaign.

    Returns:
        Payload of `comparison.recorded` by candidate, payload of `decision.recorded` by candidate, and payload of
        `campaign.completed`, or None while `selection` is empty.
    """
    coverage = _by_candidate(read_rows(con, "from coverage order by candidate_id"))
    compared = _by_candidate(read_rows(con, "from comparisons order by candidate_id, metric"))
    gates = _by_candidate(read_rows(con, "from gate_results order by candidate_id, gate_ix"))
    decisions = read_rows(con, "from decisions order by candidate_id")
    selection = read_rows(con, "from selection")
    comparison_payloads = {
        candidate: {
            "candidate_id": candidate,
            "coverage": rows[0],
            "comparisons": compared.get(candidate, []),
        }
        for candidate, rows in coverage.items()
    }
    decision_payloads = {
        row["candidate_id"]: {
            "candidate_id": row["candidate_id"],
            "decision": row["decision"],
            "gate": row["gate"],
            "score": row["score"],
            "gates": gates.get(row["candidate_id"], []),
        }
        for row in decisions
    }
    if not selection:
        return comparison_payloads, decision_payloads, None
    chosen = selection[0]
    completed = {"selected": chosen["selected_id"], "outcome": chosen["outcome"], "score": chosen["score"]}
    return comparison_payloads, decision_payloads, completed


def _by_candidate(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group rows by candidate, less the columns that the event states once for all of them."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        rest = {key: value for key, value in row.items() if key not in ("campaign_id", "candidate_id")}
        grouped.setdefault(row["candidate_id"], []).append(rest)
    return grouped
