"""Gates as JUnit XML: a test suite for each candidate, a test case for each gate of the policy."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from opfield.campaign.judge import connect_judging
from opfield.campaign.reducer import fold
from opfield.cli.render import visible
from opfield.cli.verdict import has_verdict
from opfield.errors import OpfieldError
from opfield.warehouse.session import first_event, read_rows

#: Longest text of a message; longer ones are cut with their length stated.
TEXT_LIMIT: Final = 4_000

#: What XML 1.0 cannot hold, however it is written.
_NOT_XML: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")

#: Each gate of each candidate; and the decision by itself where no gate explains it, as while cells are pending.
_GATES: Final = """
with deciding as (
    select
        campaign_id,
        candidate_id,
        status,
    from gate_results
    where is_reached and status <> 'pass'
)

select
    decisions.label as candidate,
    gate_results.name as gate,
    gate_results.kind,
    gate_results.status,
    gate_results.is_reached,
    gate_results.message,
    gate_results.gate_ix,
    decisions.candidate_id,
from gate_results
inner join decisions using (campaign_id, candidate_id)

union all

select
    label,
    'decision',
    'decision',
    decision,
    true,
    message,
    null,
    candidate_id,
from decisions
left join deciding using (campaign_id, candidate_id)
where decisions.decision <> 'pass' and deciding.status is distinct from decisions.decision
order by candidate, candidate_id, gate_ix nulls last
"""


def read_gates(root: Path, campaign_id: str) -> list[dict[str, Any]]:
    """Return how each candidate stands at each gate, from the views that judge the campaign.

    Raises:
        OpfieldError: where the campaign has no history.
    """
    first = first_event(root, campaign_id)
    if first is None:
        raise OpfieldError(f"campaign {campaign_id} has no history in {root}")
    with closing(connect_judging(root, campaign_id, fold([first]).started, ["gate_results", "decisions"])) as con:
        return read_rows(con, _GATES)


def junit_xml(verdict: Mapping[str, Any], gates: Sequence[Mapping[str, Any]], fail_on: Collection[str] | None) -> bytes:
    """Return JUnit XML of a campaign's gates.

    Where `fail_on` is given, a failure is what the exit code goes by and nothing else is: the gate that decides a
    candidate so, and the missing verdict on the campaign. Without, a gate that fails is one. What is no failure and did
    not pass is skipped, and so is a gate that was not reached, whose status decides nothing.

    Args:
        verdict: the campaign, as `read_verdict` gives it.
        gates: rows of `read_gates`.
        fail_on: decisions that count as failures, as `exit_code` takes them.
    """
    campaign = verdict["campaign"]
    rows_of: dict[str, list[Mapping[str, Any]]] = {}
    for row in gates:
        rows_of.setdefault(row["candidate_id"], []).append(row)
    root = ET.Element("testsuites", {"name": _text(f"opfield {campaign['name']}")})
    totals = [0, 0, 0]
    for decision in verdict["decisions"]:
        label, rows = decision["candidate"], rows_of.get(decision["candidate_id"], [])
        suite = _add_suite(root, label, campaign)
        counts = [len(rows), 0, 0]
        for row in rows:
            is_failure = (
                row["status"] == "fail"
                if fail_on is None
                else row["status"] == decision["decision"] and decision["decision"] in fail_on
            )
            found = _add_case(suite, f"{campaign['name']}.{label}", row, is_failure=is_failure)
            counts[1] += found == "failure"
            counts[2] += found == "skipped"
        _count(suite, counts)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    if fail_on is not None and "indeterminate" in fail_on and not has_verdict(verdict):
        suite = _add_suite(root, "campaign", campaign)
        told = {"gate": "verdict", "kind": "campaign", "status": "indeterminate", "is_reached": True}
        message = verdict["conclusion"]["message"]
        _add_case(suite, str(campaign["name"]), {**told, "message": message}, is_failure=True)
        _count(suite, [1, 1, 0])
        totals = [total + count for total, count in zip(totals, [1, 1, 0], strict=True)]
    _count(root, totals)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add_suite(root: ET.Element, name: str, campaign: Mapping[str, Any]) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", {"name": _text(name)})
    if campaign["finished_at"] is not None:
        suite.set("timestamp", campaign["finished_at"].isoformat(timespec="seconds"))
    properties = ET.SubElement(suite, "properties")
    for member in ("campaign_id", "root", "policy_digest"):
        if campaign[member] is not None:
            ET.SubElement(properties, "property", {"name": member, "value": _text(campaign[member])})
    return suite


def _add_case(suite: ET.Element, classname: str, row: Mapping[str, Any], *, is_failure: bool) -> str | None:
    """Add a gate as a test case, and return what stands in it."""
    case = ET.SubElement(suite, "testcase", {"name": _text(row["gate"]), "classname": _text(classname)})
    message = _text(row["message"] or "")
    if not row["is_reached"]:
        ET.SubElement(case, "skipped", {"message": "not reached: an earlier gate decides"})
        return "skipped"
    if row["status"] == "pass":
        return None
    if is_failure:
        failure = ET.SubElement(case, "failure", {"message": message, "type": _text(row["status"])})
        failure.text = _text(f"{row['kind']}: {row['status']}\n{row['message'] or ''}")
        return "failure"
    ET.SubElement(case, "skipped", {"message": _text(f"{row['status']}: {row['message'] or ''}")})
    return "skipped"


def _count(element: ET.Element, counts: Sequence[int]) -> None:
    for name, count in zip(("tests", "failures", "skipped"), counts, strict=True):
        element.set(name, str(count))
    element.set("errors", "0")


def _text(text: str) -> str:
    """Return text that XML can hold: control characters, terminal escapes and lone surrogates made visible."""
    shown = _NOT_XML.sub(lambda found: found.group().encode("unicode_escape").decode(), visible(text))
    return shown if len(shown) <= TEXT_LIMIT else f"{shown[:TEXT_LIMIT]}… ({len(shown)} characters)"
