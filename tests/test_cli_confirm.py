"""`opfield confirm` as a user meets it: the line that links two campaigns, plans, resuming, and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke
from opfield.warehouse.session import open_warehouse

MODULE = "tests.campaign.confirming"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("OPFIELD_TEST_OUTAGE", str(tmp_path / "outage"))


def told(capfd: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert invoke(list(words)) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


def told_json(capfd: Capture, *words: str, code: int = 0) -> Any:
    out, _ = told(capfd, *words, "--json", code=code)
    return json.loads(out)


def test_a_confirmation_tells_both_changes_wherever_it_is_shown(capfd: Capture, tmp_path: Path) -> None:
    first = told_json(capfd, "run", f"{MODULE}:first")["campaign"]["campaign_id"]
    plan = told_json(capfd, "confirm", "small", f"{MODULE}:fresh", "--plan")
    assert (plan["name"], plan["candidates"], plan["cells"], plan["confirms"]) == ("small-confirm", ["more"], 8, first)
    assert len(told_json(capfd, "status")) == 1
    # mean weights of 2 and 4.5, doubled
    line = f"confirms {first[7:19]} (more), selected there with +2; here +4.5"
    out, err = told(capfd, "confirm", "small", f"{MODULE}:fresh")
    assert line in out
    assert "next:" in err
    assert "--warehouse" not in err
    assert line in told(capfd, "compare", "small-confirm")[0]
    assert line in told(capfd, "status", "small-confirm")[0]
    assert told_json(capfd, "status", "small-confirm")["confirms"] == first
    verdict = told_json(capfd, "compare", "small-confirm")
    assert (verdict["confirms"]["campaign_id"], verdict["confirms"]["score"]) == (first, 2)
    assert told_json(capfd, "compare", "small")["confirms"] is None
    assert "confirms" not in told(capfd, "compare", "small")[0]
    assert told_json(capfd, "confirm", "small", f"{MODULE}:fresh")["appended"] == 0
    assert told(capfd, "audit")[1].strip().endswith("everything stands")
    for folder in (tmp_path / "warehouse").glob(f"*/campaign={first[7:]}"):
        shutil.rmtree(folder)
    assert "which this warehouse does not hold as it was" in told(capfd, "compare", "small-confirm")[0]


def test_an_interrupted_confirmation_is_resumed_with_its_options_and_name(capfd: Capture, tmp_path: Path) -> None:
    told(capfd, "run", f"{MODULE}:first_online")
    (tmp_path / "outage").touch()
    words = ("confirm", "small", f"{MODULE}:online_by_option", "--least", "7", "--name", "mine")
    _, err = told(capfd, *words, code=4)
    assert "opfield resume" in err
    (tmp_path / "outage").unlink()
    out, _ = told(capfd, "resume", "mine")
    assert "selected there with +2; here +7.5" in out
    assert open_warehouse().rows("select count(*) as campaigns from campaigns") == [{"campaigns": 2}]


def test_what_cannot_confirm_exits_1_with_the_reason(capfd: Capture) -> None:
    told(capfd, "run", f"{MODULE}:first")
    _, err = told(capfd, "confirm", "small", f"{MODULE}:stale", code=1)
    assert "1 of 2 cases were in campaign 'small'" in err
    _, err = told(capfd, "confirm", "smal", f"{MODULE}:fresh", code=1)
    assert "unknown campaign 'smal'" in err
    _, err = told(capfd, "confirm", "small", code=2)
    assert "TARGET" in err
