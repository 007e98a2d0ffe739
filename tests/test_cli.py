"""The command as a user meets it: exit codes, what goes where, and what it says when something is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke
from opfield.cli.render import cell, visible

ROOT = Path(__file__).parent.parent
SMALL = "tests.campaign.campaigns:campaign"
OUTAGE = "tests.campaign.campaigns:outage"
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


def test_run_prints_the_verdict_on_stdout_and_the_next_steps_on_stderr(capfd: Capture) -> None:
    out, err = told(capfd, "run", SMALL)
    assert "selected: more" in out
    assert "deciding gate" in out
    assert "next:" in err
    assert "\x1b" not in out + err
    out, err = told(capfd, "run", SMALL)
    assert "nothing was appended" in err
    assert told_json(capfd, "run", SMALL)["appended"] == 0


def test_the_next_steps_are_commands_that_work(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    _, err = told(capfd, "run", SMALL)
    steps = [line.strip() for line in err[err.index("next:") :].splitlines()[1:]]
    assert len(steps) == 3
    bin_folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    for step in steps:
        done = subprocess.run(step, shell=True, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (step, done.stderr)
        assert done.stdout.strip(), step


@pytest.mark.parametrize(
    ("gates", "code"),
    [("of.mean_delta('score', 0)", 0), ("of.mean_delta('score', 1000)", 3), ("of.gate('coverage', name='x')", 0)],
)
def test_the_exit_code_is_the_outcome(tmp_path: Path, capfd: Capture, gates: str, code: int) -> None:
    module = tmp_path / f"mine_{abs(hash(gates))}.py"
    module.write_text(
        "import opfield as of\nfrom tests.campaign.campaigns import small\n"
        f"campaign = small(policy=of.Policy([{gates}], prefer='score'))\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        told(capfd, "run", f"{module.stem}:campaign", code=code)
    finally:
        sys.path.remove(str(tmp_path))


def test_an_outage_exits_4_and_resume_or_finish_end_it(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "outage").touch()
    out, err = told(capfd, "run", OUTAGE, code=4)
    assert "paused" in err
    assert "opfield resume" in err
    assert "pending" in out
    status = told_json(capfd, "status", "small")
    assert status["state"] == "unfinished"
    assert "connection" in status["last_failed_attempt"]
    told(capfd, "compare", code=4)
    (tmp_path / "outage").unlink()
    out, _ = told(capfd, "resume")
    assert "selected: more" in out


def test_finish_needs_the_words_and_then_ends(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "outage").touch()
    told(capfd, "run", OUTAGE, code=4)
    _, err = told(capfd, "finish", code=2)
    assert "--accept-failures" in err
    out, _ = told(capfd, "finish", "--accept-failures", code=4)
    assert "undecided" in out
    assert "failed cells" in out


def test_cancel_is_recorded_and_final(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "outage").touch()
    told(capfd, "run", OUTAGE, code=4)
    _, err = told(capfd, "cancel", "small", "--reason", "wrong prompt")
    assert "18 cells were never run" in err
    _, err = told(capfd, "cancel", "small")
    assert "already" in err
    told(capfd, "run", OUTAGE, code=4)
    assert told_json(capfd, "status")[0]["state"] == "cancelled"


def test_ctrl_c_stops_cleanly_and_resume_goes_on(tmp_path: Path, capfd: Capture) -> None:
    words = [sys.executable, "-m", "opfield", "run", "tests.campaign.campaigns:slow_campaign", "--workers", "1"]
    running = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = tmp_path / "warehouse" / "cells"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(events.glob("*/0000000000[1-9]*.parquet")):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 4, err
    assert "interrupted" in err
    kept = told_json(capfd, "status", "small")["accepted"]
    assert 0 < kept < 18
    told(capfd, "resume")
    assert told_json(capfd, "audit")["findings"] == []


def test_plan_and_try_record_nothing(tmp_path: Path, capfd: Capture) -> None:
    plan = told_json(capfd, "run", SMALL, "--plan")
    assert (plan["cells"], plan["to_run"], plan["events_when_finished"]) == (18, 18, 26)
    assert plan["estimated_cost_usd"] is None
    tried = told_json(capfd, "try", SMALL, "--case", "b", "--candidate", "more")
    assert tried["measurements"] == {"score": 4, "words": 1}
    assert not (tmp_path / "warehouse").exists()


def test_show_prints_one_cell(capfd: Capture) -> None:
    told(capfd, "run", SMALL)
    shown = told_json(capfd, "show", "--case", "c", "--candidate", "more", "--repeat", "1")
    assert [row["status"] for row in shown["cells"]] == ["success"]
    assert {row["metric"]: row["value"] for row in shown["measurements"]} == {"score": 6.0, "words": 1.0}
    assert json.loads(shown["input"]) == {"weight": 3}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "quadratik"], 1, "did you mean 'quadratic'"),
        (["run", "quadratic", "--repeat", "3"], 2, "did you mean 'repeats'"),
        (["run", "quadratic", "--repeats", "three"], 2, "is no int"),
        (["run", "quadratic", "--repeats"], 2, "needs a value"),
        (["run", "quadratic", "three"], 2, "unexpected argument"),
        (["run", "tests.nowhere:campaign"], 1, "there is no module"),
        (["run", "tests.campaign.campaigns:nothing"], 1, "unknown campaign in module"),
        (["run", "tests.campaign.campaigns:METRICS"], 1, "not a Campaign"),
        (["try", SMALL, "--case", "z"], 1, "unknown case 'z'"),
        (["try", SMALL, "--case", "a", "--candidate", "mor"], 1, "did you mean 'more'"),
        (["try", SMALL, "--case", "a", "--repeat", "9"], 1, "not below the declared 2"),
        (["compare"], 1, "is no warehouse yet"),
        (["views", "comparison"], 1, "did you mean 'comparisons'"),
        (["explode"], 2, "No such command"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(capfd: Capture, words: list[str], code: int, message: str) -> None:
    _, err = told(capfd, *words, code=code)
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "nothing"], "unknown campaign 'nothing'; known:"),
        (["show", "--case", "z"], "unknown case 'z'"),
        (["show", "--case", "a", "--candidate", "mor"], "did you mean 'more'"),
        (["show", "--case", "a", "--repeat", "7"], "repeats count from 0"),
        (["sql", "from nothing"], "nothing"),
        (["sql", "selec 1"], "selec"),
    ],
)
def test_a_look_at_what_is_not_there_says_what_is(capfd: Capture, words: list[str], message: str) -> None:
    told(capfd, "run", SMALL)
    _, err = told(capfd, *words, code=1)
    assert message in err
    assert "Traceback" not in err


def test_listings_answer_in_words_and_in_json(capfd: Capture) -> None:
    for command in ("domains", "gates", "views"):
        out, _ = told(capfd, command)
        assert out.strip()
        assert told_json(capfd, command)
    assert {row["gate"] for row in told_json(capfd, "gates")} >= {
        "coverage",
        "failures",
        "mean_delta",
        "worst_delta",
        "candidate_mean",
    }
    out, _ = told(capfd, "views", "comparisons")
    assert "mean_delta" in out
    assert "select" in out
    told(capfd, "run", SMALL)
    assert told_json(capfd, "sql", "select count(*) as n from cells") == [{"n": 18}]
    told(capfd, "run", "quadratic")
    for query in ("select count(*) as n from cells", "select count(*) as n from campaigns"):
        assert told_json(capfd, "sql", query, "--campaign", "small")[0]["n"] in (18, 1)


def test_seal_and_audit(capfd: Capture) -> None:
    told(capfd, "run", SMALL)
    before = told_json(capfd, "sql", "from comparisons order by all")
    told(capfd, "seal")
    _, err = told(capfd, "seal")
    assert "already" in err
    assert told_json(capfd, "sql", "from comparisons order by all") == before
    assert told_json(capfd, "audit")["findings"] == []


def test_text_from_outside_cannot_drive_the_terminal() -> None:
    assert visible("a\x1b[31mb\u202ec") == "a\\x1b[31mb\\u202ec"
    assert cell("x" * 500).endswith("(500 characters)")
    assert cell(None) == "–"
