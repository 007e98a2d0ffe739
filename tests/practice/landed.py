"""Warehouses and files of records for these tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opfield.cli.app import invoke
from opfield.practice import BudgetCharge, CandidateOperatorResult, GeometricSearchRun, enveloped
from opfield.warehouse.binding import bind_handed, read_handed
from opfield.warehouse.session import Warehouse
from tests.practice.records import attempt, proposed, reconstruction, result


def lines_of(records: Iterable[Any]) -> str:
    """Return records as JSON lines; what is no record stands as it is, as the payload of an operator result."""
    lines = []
    for each in records:
        if isinstance(each, GeometricSearchRun | CandidateOperatorResult):
            lines.append(enveloped(each).as_json())
        elif isinstance(each, dict) and "schema" in each:
            lines.append(each)
        else:
            lines.append({"schema": "opfield.candidate_operator_result/v1", "payload": each})
    return "".join(json.dumps(line) + "\n" for line in lines)


def bind(root: Path, *records: Any, admit: bool = False) -> int:
    """Write records into a file and call the command; return its exit code."""
    path = root.parent / "records.jsonl"
    path.write_text(lines_of(records), encoding="utf-8")
    return invoke(["bind", str(path), "--warehouse", str(root), *(["--admit"] if admit else [])])


def land(root: Path, *records: Any, admit: bool = False) -> None:
    """Bind and land records without the command, so that the warehouse's other files stay as they are."""
    path = root.parent / "records.jsonl"
    path.write_text(lines_of(records), encoding="utf-8")
    bind_handed(root, read_handed([path]), is_admitting=admit, told=lambda: None)


def rows(root: Path, query: str) -> list[dict[str, Any]]:
    return Warehouse(root).rows(query)


def at(
    of: GeometricSearchRun, index: int, charge: BudgetCharge | None = None, filler: str | None = None
) -> CandidateOperatorResult:
    """An operator result at a position and a candidate of its own."""
    roles = (("animal", filler or f"fox {index}"),)
    tried = attempt(
        attempt_index=index,
        candidate_digest=proposed(*roles),
        budget_charge=charge or BudgetCharge(1, 1),
        step_index=0,
    )
    return result(of, tried, reconstruction(candidate_digest=proposed(*roles), role_assignments=roles))
