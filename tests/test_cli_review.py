"""`opfield review` as a person meets it: who is asked, what counts, and how wrong words are answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke

REVIEWED = "tests.campaign.campaigns:reviewed_campaign"
SMALL = "tests.campaign.campaigns:campaign"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(tmp_path / "warehouse"))


def told(capfd: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert invoke(list(words)) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


def told_json(capfd: Capture, *words: str, code: int = 0) -> Any:
    out, _ = told(capfd, *words, "--json", code=code)
    return json.loads(out)


def test_a_campaign_waits_says_so_everywhere_and_ends_with_the_review(capfd: Capture) -> None:
    out, err = told(capfd, "run", REVIEWED, code=4)
    assert "awaiting review: more\n" in out
    assert "`opfield review more --approve --by NAME`" in err
    assert "awaiting review" in told(capfd, "status")[0]
    assert told_json(capfd, "status", "small")["state"] == "awaiting review"
    waiting = told_json(capfd, "compare", code=4)
    assert (waiting["state"], waiting["awaiting_review"]) == ("awaiting review", ["more"])
    assert told_json(capfd, "resume", code=4)["state"] == "awaiting review"
    out, _ = told(capfd, "review", "more", "--approve", "--by", "Ann", "--comment", "fine")
    assert "selected: more" in out
    assert told_json(capfd, "status", "small")["state"] == "completed"
    assert told(capfd, "audit")[1].strip().endswith("everything stands")


def test_a_rejected_candidate_keeps_the_baseline(capfd: Capture) -> None:
    told(capfd, "run", REVIEWED, code=4)
    verdict = told_json(capfd, "review", "more", "small", "--reject", "--by", "Ann", code=3)
    assert verdict["selection"]["outcome"] == "kept_baseline"
    assert {row["candidate"]: row["message"] for row in verdict["decisions"]}["more"] == "rejected by Ann"


def test_a_waiting_campaign_can_be_finished_without_review(capfd: Capture) -> None:
    told(capfd, "run", REVIEWED, code=4)
    assert "awaiting review" in told(capfd, "finish", "--accept-failures", code=4)[1]
    out, _ = told(capfd, "finish", "--accept-failures", "--without-review", code=4)
    assert "undecided" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--approve", "--by", "Ann"], "name the candidate to review"),
        (["more", "--by", "Ann"], "say one of --approve and --reject, not neither"),
        (["more", "--approve", "--reject", "--by", "Ann"], "say one of --approve and --reject, not both"),
        (["more", "--approve"], "say who reviews, with --by NAME"),
        (["more", "--new-key", "k.pem"], "leave out CANDIDATE"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(capfd: Capture, words: list[str], message: str) -> None:
    assert message in told(capfd, "review", *words, code=2)[1]


def test_what_cannot_be_reviewed_is_refused_with_the_reason(capfd: Capture, tmp_path: Path) -> None:
    told(capfd, "run", SMALL)
    _, err = told(capfd, "review", "more", "--approve", "--by", "Ann", code=1)
    assert "asks for no review" in err
    told(capfd, "run", REVIEWED, code=4)
    _, err = told(capfd, "review", "mor", "--approve", "--by", "Ann", code=1)
    assert "did you mean 'more'? known: less, more" in err
    _, err = told(capfd, "review", "more", "--approve", "--by", "Ann", "--key", str(tmp_path / "none"), code=1)
    assert "cannot be read" in err


def test_a_new_key_prints_what_goes_into_the_policy(capfd: Capture, tmp_path: Path) -> None:
    out, err = told(capfd, "review", "--new-key", str(tmp_path / "ann.pem"))
    assert len(bytes.fromhex(out.strip())) == 32
    assert "keep it to yourself" in err
    assert "stands already" in told(capfd, "review", "--new-key", str(tmp_path / "ann.pem"), code=1)[1]
    made = told_json(capfd, "review", "--new-key", str(tmp_path / "bea.pem"))
    assert made["public_key"] != out.strip()
