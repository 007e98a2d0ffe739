"""A campaign that people decide: it waits once compared, and goes on to the same end however it was interrupted."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from opfield.campaign.audit import audit
from opfield.campaign.checkpoint import load_state
from opfield.campaign.ending import Outcome, cancel, finish_with_failures
from opfield.campaign.engine import run
from opfield.campaign.review import Review, record_review
from opfield.campaign.signatures import write_new_key
from opfield.campaign.writer import open_writer
from opfield.core import canonical_json
from opfield.errors import DeclarationError, HistoryError, OpfieldError, UnknownNameError
from opfield.warehouse import ledger
from opfield.warehouse.material import artifact_files, read_artifacts
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import create_store
from tests.campaign.campaigns import reviewed, small


@cache
def compared(approvals: int) -> tuple[Path, str]:
    """Run a campaign until it waits, once for all tests that start from there."""
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root)
    outcome = run(reviewed(approvals=approvals), root, executor="inline")
    assert outcome.state == "awaiting_review"
    return root, outcome.campaign_id


def waiting(root: Path, approvals: int = 1) -> str:
    """Put a campaign that waits for reviews into `root`, and return its id."""
    template, campaign_id = compared(approvals)
    shutil.copytree(template, root, dirs_exist_ok=True)
    return campaign_id


def review(root: Path, campaign_id: str, candidate: str = "more", verdict: str = "approve", **more: Any) -> Outcome:
    return record_review(root, campaign_id, Review(candidate, verdict, more.pop("by", "ann"), **more))


def types(root: Path, campaign_id: str) -> list[str]:
    return [event.type for event in ledger.read_events(root, campaign_id)]


def decided(root: Path) -> dict[str, tuple[str, str | None]]:
    rows = open_warehouse(root, is_snapshot=True).rows("from decisions")
    return {row["label"]: (row["decision"], row["gate"]) for row in rows}


def test_a_compared_campaign_waits_and_says_for_whom(tmp_path: Path) -> None:
    outcome = run(reviewed(), tmp_path, executor="inline")
    assert (outcome.state, outcome.selected, outcome.pending) == ("awaiting_review", None, 0)
    assert outcome.reason.startswith("more (0 of 1 approvals) cannot be decided before somebody reviews")
    assert "`opfield review more --approve --by NAME`" in outcome.reason
    # `less` fails before its review gate, so nobody is asked about it.
    assert "less" not in outcome.reason
    # 1 start + 2 candidates + 18 cells + 2 comparisons
    assert outcome.appended == 23
    assert types(tmp_path, outcome.campaign_id)[-2:] == ["comparison.recorded"] * 2
    again = run(reviewed(), tmp_path, executor="inline")
    assert (again.state, again.appended) == ("awaiting_review", 0)
    assert audit(tmp_path).findings == ()


def test_the_last_review_that_was_lacking_completes_the_campaign(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    outcome = review(tmp_path, campaign_id, comment="looks right")
    assert (outcome.state, outcome.outcome, outcome.appended) == ("completed", "selected", 4)
    assert decided(tmp_path) == {"more": ("pass", None), "less": ("fail", "mean_delta(score)")}
    assert types(tmp_path, campaign_id)[23:] == ["review.recorded", *["decision.recorded"] * 2, "campaign.completed"]
    assert audit(tmp_path).findings == ()
    rows = open_warehouse(tmp_path).rows("select verdict, reviewer, comment, is_signed, is_current from reviews")
    assert [tuple(row.values()) for row in rows] == [("approve", "ann", "looks right", False, True)]
    assert run(reviewed(approvals=1), tmp_path, executor="inline").appended == 0


def test_a_rejection_decides_at_once(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path, approvals=3)
    outcome = review(tmp_path, campaign_id, verdict="reject")
    assert (outcome.state, outcome.outcome) == ("completed", "kept_baseline")
    assert decided(tmp_path)["more"] == ("fail", "review")
    assert audit(tmp_path).findings == ()


def test_it_waits_for_as_many_reviewers_as_are_asked_for(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path, approvals=2)
    for by in ("ann", " ann "):
        outcome = review(tmp_path, campaign_id, by=by)
        assert (outcome.state, outcome.appended) == ("awaiting_review", 1)
        assert "1 of 2 approvals" in outcome.reason
    assert review(tmp_path, campaign_id, by="bea").state == "completed"
    assert audit(tmp_path).findings == ()


def test_a_campaign_without_a_review_gate_waits_for_nobody(tmp_path: Path) -> None:
    outcome = run(small(), tmp_path, executor="inline")
    assert outcome.state == "completed"
    with pytest.raises(OpfieldError, match="asks for no review: its gates are coverage, failures, mean_delta"):
        review(tmp_path, outcome.campaign_id)


def test_options_that_are_not_understood_end_it_undecided(tmp_path: Path) -> None:
    outcome = run(reviewed(approvals=0), tmp_path, executor="inline")
    assert (outcome.state, outcome.outcome) == ("completed", "undecided")


def test_a_review_that_cannot_count_is_refused(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    before = types(tmp_path, campaign_id)
    refused: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (UnknownNameError, "unknown candidate 'mor'; did you mean 'more'. known: less, more", {"candidate": "mor"}),
        (UnknownNameError, "unknown candidate ''", {"candidate": ""}),
        (OpfieldError, "neither approve nor reject", {"verdict": "perhaps"}),
        (DeclarationError, "a reviewer is empty", {"by": "  "}),
        (DeclarationError, "comment .* holds a NUL", {"comment": "a\0b"}),
        (DeclarationError, "at most 16384 are kept", {"comment": "x" * 16_385}),
        (OpfieldError, "cannot be read", {"key": tmp_path / "nothing.pem"}),
    ]
    for kind, message, said in refused:
        with pytest.raises(kind, match=message):
            review(tmp_path, campaign_id, **said)
    assert types(tmp_path, campaign_id) == before
    review(tmp_path, campaign_id)
    with pytest.raises(OpfieldError, match=r"candidate 'more' is decided already \(pass\)"):
        review(tmp_path, campaign_id, verdict="reject")


def test_a_candidate_is_meant_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    ids = {label: each for each, label in load_state(tmp_path, campaign_id).registered.items()}
    assert review(tmp_path, campaign_id, ids["more"][:20]).state == "completed"


def test_nothing_is_reviewed_before_it_is_compared(tmp_path: Path) -> None:
    told = waiting(tmp_path / "whole")
    told_again(tmp_path / "whole", tmp_path / "cut", told, 10)
    with pytest.raises(
        OpfieldError, match=r"'more' is not compared yet \(11 cells pending\); go on with `opfield resume"
    ):
        review(tmp_path / "cut", told)


def test_nothing_is_reviewed_after_the_end(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    cancel(tmp_path, campaign_id, "enough")
    with pytest.raises(OpfieldError, match=r"decided already \(cancelled\)"):
        review(tmp_path, campaign_id)


def test_signed_reviews_count_where_keys_are_listed(tmp_path: Path) -> None:
    ann, bea, cid = (write_new_key(tmp_path / f"{name}.pem") for name in ("ann", "bea", "cid"))
    root = tmp_path / "warehouse"
    outcome = run(reviewed(keys=[ann, bea], approvals=2), root, executor="inline")
    assert "--approve --by NAME --key FILE" in outcome.reason
    campaign_id = outcome.campaign_id
    with pytest.raises(OpfieldError, match=f"this review is unsigned; known: .*{ann}"):
        review(root, campaign_id)
    with pytest.raises(OpfieldError, match=f"the key given is {cid}; known: "):
        review(root, campaign_id, key=tmp_path / "cid.pem")
    assert review(root, campaign_id, key=tmp_path / "ann.pem").state == "awaiting_review"
    assert review(root, campaign_id, key=tmp_path / "bea.pem").state == "completed"
    assert decided(root)["more"] == ("pass", None)
    assert audit(root).findings == ()


def payload_of(root: Path, campaign_id: str, **changes: Any) -> dict[str, Any]:
    state = load_state(root, campaign_id)
    candidate = next(each for each, label in state.registered.items() if label == "more")
    told = {"candidate_id": candidate, "verdict": "approve", "by": "ann", "comment": None}
    return {**told, "comparison": state.compared[candidate], "public_key": None, "signature": None, **changes}


def test_the_writer_refuses_a_signature_that_is_not_its_own(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    forged = payload_of(tmp_path, campaign_id, public_key="ab" * 32, signature="00" * 64)
    with open_writer(tmp_path, campaign_id) as writer:
        before = writer.state.sequence
        with pytest.raises(HistoryError, match="does not fit what it says"):
            writer.accept(ledger.REVIEW_RECORDED, forged)
        assert writer.state.sequence == before


def test_an_audit_finds_a_signature_that_was_written_past_the_writer(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    state = load_state(tmp_path, campaign_id)
    forged = payload_of(tmp_path, campaign_id, public_key="ab" * 32, signature="00" * 64)
    event = ledger.chained(
        state.digest,
        campaign_id=campaign_id,
        sequence=state.sequence + 1,
        type=ledger.REVIEW_RECORDED,
        fence=state.fence,
        payload=canonical_json(forged),
    )
    ledger.publish(tmp_path, [event])
    with open_writer(tmp_path, campaign_id):
        pass  # catches up the projections
    findings = audit(tmp_path).findings
    assert [finding.law for finding in findings] == ["signature"]
    assert f"event {event.sequence}: the signature of the review of" in findings[0].detail


def test_finishing_waits_too_unless_told_to_do_without(tmp_path: Path) -> None:
    campaign_id = waiting(tmp_path)
    outcome = finish_with_failures(tmp_path, campaign_id)
    assert (outcome.state, outcome.appended) == ("awaiting_review", 0)
    outcome = finish_with_failures(tmp_path, campaign_id, without_review=True)
    assert (outcome.state, outcome.outcome) == ("completed", "undecided")
    assert decided(tmp_path)["more"] == ("indeterminate", "review")
    assert audit(tmp_path).findings == ()


@pytest.mark.parametrize("kept", [21, 22, 23, 24, 25, 26])
def test_every_prefix_of_a_reviewed_history_goes_on_to_the_same_end(tmp_path: Path, kept: int) -> None:
    campaign_id = waiting(tmp_path / "whole")
    review(tmp_path / "whole", campaign_id)
    told_again(tmp_path / "whole", tmp_path / "cut", campaign_id, kept)
    outcome = run(reviewed(approvals=1), tmp_path / "cut", executor="inline")
    if kept <= 23:
        assert outcome.state == "awaiting_review"
        outcome = review(tmp_path / "cut", campaign_id)
    assert (outcome.state, outcome.outcome) == ("completed", "selected")
    assert types(tmp_path / "cut", campaign_id) == types(tmp_path / "whole", campaign_id)


def told_again(root: Path, other: Path, campaign_id: str, kept: int) -> None:
    """Tell the first events of a history to another warehouse, as far as a crash let them come."""
    create_store(other)
    artifacts = [each for path in artifact_files(root, campaign_id) for each in read_artifacts(path)]
    with open_writer(other, campaign_id) as writer:
        for event in list(ledger.read_events(root, campaign_id))[:kept]:
            payload = orjson.loads(event.payload)
            if event.type == ledger.REVIEW_RECORDED:
                payload["comparison"] = writer.state.compared[payload["candidate_id"]]
            writer.accept(event.type, payload, artifacts)
        writer.flush()
