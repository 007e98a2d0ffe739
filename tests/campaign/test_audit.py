"""What an audit finds in histories that are lawful, whole and wrong: told again by somebody who knows how to chain."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from opfield.campaign.audit import AuditReport, audit
from opfield.campaign.writer import open_writer
from opfield.errors import WarehouseError
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event
from opfield.warehouse.lock import hold
from opfield.warehouse.store import create_store
from tests.custody.replay import Told, told_campaign

Forge = Callable[[Event, dict[str, Any]], None]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told_campaign(tmp_path_factory.mktemp("told") / "warehouse")


def forged(told: Told, root: Path, forge: Forge) -> AuditReport:
    """Tell the campaign's history with other payloads, chained and projected as a writer does, and audit it."""
    with open_writer(told.empty(root), told.campaign_id) as writer:
        for event in told.events:
            payload = orjson.loads(event.payload)
            forge(event, payload)
            writer.accept(event.type, payload, told.artifacts)
        writer.flush()
    return audit(root)


def laws(report: AuditReport) -> set[str]:
    return {finding.law for finding in report.findings}


def test_nothing_is_found_where_nothing_is_wrong(told: Told, tmp_path: Path) -> None:
    report = forged(told, tmp_path, lambda _event, _payload: None)
    assert (report.findings, report.notes) == ((), ())
    assert (report.campaigns, report.events) == (1, len(told.events))


def test_a_better_measurement_is_found_by_the_verdict(told: Told, tmp_path: Path) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.type == ledger.TRIAL_COMPLETED and payload["arm"] == "candidate":
            for measurement in payload["measurements"][:1]:
                measurement["value"] = 1000.0

    assert laws(forged(told, tmp_path, forge)) == {"verdict"}


@pytest.mark.parametrize(
    ("kind", "member", "value"),
    [
        (ledger.DECISION_RECORDED, "decision", "fail"),
        (ledger.DECISION_RECORDED, "score", 7.5),
        (ledger.CAMPAIGN_COMPLETED, "outcome", "undecided"),
        (ledger.COMPARISON_RECORDED, "comparisons", []),
    ],
)
def test_a_verdict_that_the_views_do_not_give_is_found(
    told: Told, tmp_path: Path, kind: str, member: str, value: object
) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.type == kind:
            payload[member] = value

    assert "verdict" in laws(forged(told, tmp_path, forge))


def test_another_selection_is_found(told: Told, tmp_path: Path) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.type == ledger.CAMPAIGN_COMPLETED:
            payload["selected"] = orjson.loads(told.events[1].payload)["candidate_id"]
            payload["score"] = 0.0

    assert "verdict" in laws(forged(told, tmp_path, forge))


def test_another_seed_is_found(told: Told, tmp_path: Path) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.sequence == 7:
            payload["seed"] = "0" * 16

    assert laws(forged(told, tmp_path, forge)) == {"seed"}


def test_another_declaration_is_found(told: Told, tmp_path: Path) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.type == ledger.CAMPAIGN_STARTED:
            payload["identity"]["policy"]["min_gain"] = -1.0

    assert "identity" in laws(forged(told, tmp_path, forge))


def test_an_artifact_that_nobody_kept_is_found(told: Told, tmp_path: Path) -> None:
    def forge(event: Event, payload: dict[str, Any]) -> None:
        if event.sequence == 8:
            payload["artifact_id"] = "sha256:" + "0" * 64

    assert laws(forged(told, tmp_path, forge)) == {"artifact"}


def test_an_unfinished_campaign_is_audited_as_far_as_it_came(told: Told, tmp_path: Path) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=11)
    report = audit(root)
    assert (report.findings, report.events) == ((), 11)


def test_a_campaign_that_is_being_written_is_noted(told: Told, tmp_path: Path) -> None:
    root = Path(shutil.copytree(told.root, tmp_path / "copy"))
    with hold(root, told.campaign_id):
        report = audit(root)
    assert report.findings == ()
    assert [note.law for note in report.notes] == ["held"]


def test_audit_writes_nothing(told: Told, tmp_path: Path) -> None:
    root = Path(shutil.copytree(told.root, tmp_path / "copy"))
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in root.rglob("*")}
    audit(root)
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in root.rglob("*")} == before


def test_an_empty_warehouse_has_nothing_wrong(tmp_path: Path) -> None:
    report = audit(create_store(tmp_path / "new").root)
    assert (report.campaigns, report.events, report.findings) == (0, 0, ())
    with pytest.raises(WarehouseError, match="no warehouse"):
        audit(tmp_path / "nothing")
