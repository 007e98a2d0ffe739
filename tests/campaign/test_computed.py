"""Computed evidence in a campaign: recorded between the last cell and the first comparison, repeated by an audit."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

import opfield as of
from opfield.campaign import checkpoint
from opfield.campaign.audit import AuditReport, audit
from opfield.campaign.ending import finish_with_failures
from opfield.campaign.engine import run
from opfield.campaign.reducer import CampaignState, fold
from opfield.campaign.writer import open_writer
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event
from opfield.warehouse.material import artifact_files, read_artifacts
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import create_store
from tests.campaign.computing import timed

GATES = (
    of.gate("percentile", "seconds", at_most=40.0, ratio_at_most=0.8),
    of.gate("percentile", of="input_tokens", at_most=500, q=0.9, name="tokens"),
    of.gate("family", "seconds", method="max_t"),
)
#: 1 start, 3 candidates and 80 cases on 4 arms come before the evidence.
BEFORE = 1 + 3 + 320


@cache
def finished() -> tuple[Path, str]:
    """Run the campaign once for all tests."""
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root)
    outcome = run(timed(*GATES), root, executor="inline")
    assert outcome.state == "completed"
    return root, outcome.campaign_id


def history(root: Path, campaign_id: str) -> list[tuple[str, str]]:
    return [(event.type, event.payload) for event in ledger.read_events(root, campaign_id)]


def told_again(root: Path, kept: int | None = None, forge: Callable[[Event, Any], None] | None = None) -> str:
    """Tell the finished campaign's first events to another warehouse, perhaps otherwise."""
    template, campaign_id = finished()
    create_store(root)
    artifacts = [each for path in artifact_files(template, campaign_id) for each in read_artifacts(path)]
    with open_writer(root, campaign_id) as writer:
        for event in list(ledger.read_events(template, campaign_id))[:kept]:
            payload = orjson.loads(event.payload)
            if forge:
                forge(event, payload)
            writer.accept(event.type, payload, artifacts)
        writer.flush()
    return campaign_id


def recomputed(root: Path) -> AuditReport:
    return audit(root, recompute=True)


def test_evidence_stands_between_the_last_cell_and_the_first_comparison_in_the_order_of_gates() -> None:
    root, campaign_id = finished()
    events = history(root, campaign_id)
    assert [kind for kind, _ in events[BEFORE - 1 :]] == [
        "trial.completed",
        *["evidence.recorded"] * 3,
        *["comparison.recorded"] * 3,
        *["decision.recorded"] * 3,
        "campaign.completed",
    ]
    told = [orjson.loads(payload) for kind, payload in events if kind == "evidence.recorded"]
    assert [(each["gate_ix"], each["name"]) for each in told] == [
        (0, "percentile(seconds)"),
        (1, "tokens"),
        (2, "family(seconds)"),
    ]
    assert len({each["seed"] for each in told}) == 3
    assert told[0]["parameters"] == {
        "resamples": 9999,
        "least_units": 50,
        "metric": "seconds",
        "resource": None,
        "q": 0.95,
        "ratio_at_most": 0.8,
        "alpha": 0.025,
    }
    assert set(told[0]["software"]) == {"numpy", "scipy"}
    assert all(len(each["seed"]) == 16 and each["input_digest"].startswith("sha256:") for each in told)


def test_a_checkpoint_keeps_what_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    campaign_id = told_again(tmp_path, BEFORE + 4)
    whole = fold(ledger.read_events(tmp_path, campaign_id), CampaignState(campaign_id))
    assert (whole.evidenced, len(whole.compared)) == ({0, 1, 2}, 1)
    checkpoint.save_state(tmp_path, whole)
    assert checkpoint._read(tmp_path, campaign_id) == whole


def test_verdicts_rest_on_it() -> None:
    rows = open_warehouse(finished()[0], is_snapshot=True).rows(
        "select label, gate_ix, gate_results.status from gate_results "
        "inner join candidates using (campaign_id, candidate_id) order by label, gate_ix"
    )
    statuses = {label: [row["status"] for row in rows if row["label"] == label] for label in ("fast", "slow", "fails")}
    assert statuses == {
        "fast": ["pass", "pass", "pass"],
        "slow": ["fail", "fail", "fail"],
        # One cell failed: its seconds and tokens are not known, and at worst its delta is the width of the range.
        "fails": ["indeterminate", "indeterminate", "indeterminate"],
    }


def test_the_cells_decide_the_evidence_and_nothing_else_does(tmp_path: Path) -> None:
    root, campaign_id = finished()
    run(timed(*GATES), tmp_path, executor="threads", workers=4)
    ours, theirs = (
        [payload for kind, payload in history(each, campaign_id) if kind == "evidence.recorded"]
        for each in (root, tmp_path)
    )
    assert ours == theirs


@pytest.mark.parametrize("kept", [BEFORE, BEFORE + 1, BEFORE + 3, BEFORE + 4])
def test_what_a_crash_left_is_gone_on_with_to_the_same_evidence(tmp_path: Path, kept: int) -> None:
    campaign_id = told_again(tmp_path, kept)
    assert run(timed(*GATES), tmp_path, executor="inline").outcome == "selected"
    assert history(tmp_path, campaign_id) == history(*finished())


def test_an_audit_repeats_it_and_finds_nothing_wrong() -> None:
    assert recomputed(finished()[0]).findings == ()


def forged_member(gate_ix: int, member: str, value: Any) -> Callable[[Event, Any], None]:
    def forge(event: Event, payload: Any) -> None:
        if event.type == ledger.EVIDENCE_RECORDED and payload["gate_ix"] == gate_ix:
            payload[member] = value

    return forge


@pytest.mark.parametrize(
    ("member", "value"),
    [("seed", "0" * 16), ("input_digest", "sha256:" + "0" * 64), ("method", "by eye"), ("parameters", {})],
)
def test_an_audit_finds_evidence_of_another_origin(tmp_path: Path, member: str, value: Any) -> None:
    told_again(tmp_path, forge=forged_member(1, member, value))
    (finding,) = recomputed(tmp_path).findings
    assert finding.law == "evidence"
    assert f"(tokens): computed again, {member} is not what was recorded" in finding.detail
    assert audit(tmp_path).findings == ()


def test_an_audit_finds_a_better_result(tmp_path: Path) -> None:
    def forge(event: Event, payload: Any) -> None:
        if event.type == ledger.EVIDENCE_RECORDED and payload["gate_ix"] == 2:
            payload["results"][0]["p_value"] += 0.0001

    told_again(tmp_path, forge=forge)
    laws = [finding.law for finding in recomputed(tmp_path).findings]
    assert "evidence" in laws


def test_other_software_is_no_finding(tmp_path: Path) -> None:
    told_again(tmp_path, forge=forged_member(1, "software", {"numpy": "0", "scipy": "0"}))
    assert recomputed(tmp_path).findings == ()


def test_finishing_on_failures_computes_over_the_failed_cells_too(tmp_path: Path) -> None:
    campaign_id = told_again(tmp_path, BEFORE - 2)
    outcome = finish_with_failures(tmp_path, campaign_id)
    assert outcome.state == "completed"
    assert [kind for kind, _ in history(tmp_path, campaign_id)].count("evidence.recorded") == 3
    assert recomputed(tmp_path).findings == ()


def test_gates_that_ask_for_nothing_computable_leave_no_evidence(tmp_path: Path) -> None:
    gates = (of.gate("family", "seconds", method="holm"), of.coverage())
    outcome = run(timed(*gates, cases=3), tmp_path, executor="inline")
    assert outcome.state == "completed"
    assert "evidence.recorded" not in [kind for kind, _ in history(tmp_path, outcome.campaign_id)]
    assert recomputed(tmp_path).findings == ()
