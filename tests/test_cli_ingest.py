"""`opfield ingest` as a person meets it: what the words mean, what is printed, and how wrong words are answered."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.chdir(tmp_path)
    # The gain differs between cases, about a mean of .1, so that a spread is known.
    rows = [
        (model, f"q{ix}", 0.5 + ix / 100 + gain * (0.8 + ix % 2 * 0.4))
        for model, gain in (("old", 0.0), ("new", 0.1))
        for ix in range(24)
    ]
    write(tmp_path / "results.csv", ("model", "question", "score"), rows)


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows])


TABLE = ("ingest", "table", "results.csv", "--candidate", "model", "--case", "question", "--metric", "score")


def told(capfd: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert invoke(list(words)) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


def told_json(capfd: Capture, *words: str, code: int = 0) -> Any:
    out, _ = told(capfd, *words, "--json", code=code)
    return json.loads(out)


def test_a_table_is_judged_at_once(capfd: Capture) -> None:
    out, err = told(capfd, *TABLE, "--baseline", "old")
    assert "selected: new, oriented change of score 0.1" in out
    assert "24/24" in out
    assert "the denominator is what is there" in err


def test_less_can_be_better(capfd: Capture) -> None:
    out, _ = told(capfd, *TABLE, "--baseline", "old", "--minimize", "score", code=3)
    assert "kept: the baseline" in out


def test_the_same_table_again_appends_nothing(capfd: Capture) -> None:
    first = told_json(capfd, *TABLE, "--baseline", "old")
    again = told_json(capfd, *TABLE, "--baseline", "old")
    assert first["appended"] == 1 + 1 + 48 + 1 + 1 + 1
    assert again["appended"] == 0
    assert again["campaign"] == first["campaign"]


def test_a_dry_run_shows_coordinates_and_records_nothing(capfd: Capture, tmp_path: Path) -> None:
    out, err = told(capfd, *TABLE, "--baseline", "old", "--dry-run")
    assert "results.csv: line 2" in out
    assert "nothing was recorded; 48 samples of 1 files were read" in err
    assert not (tmp_path / "warehouse").exists()


def test_a_metric_is_stated_by_the_user(capfd: Capture) -> None:
    told(capfd, *TABLE, "--baseline", "old", "--bounds", "score=0:1", "--on-failure", "score=worst", "--name", "mine")
    (row,) = told_json(capfd, "sql", "select name, lower, upper, on_domain_failure from metrics cross join campaigns")
    assert row == {"name": "mine", "lower": 0.0, "upper": 1.0, "on_domain_failure": "worst"}


def test_a_metric_is_renamed(capfd: Capture) -> None:
    words = [*TABLE, "--baseline", "old", "--rename", "score=quality"]
    words[words.index("score", 8)] = "quality"
    told(capfd, *words)
    assert told_json(capfd, "sql", "select metric from metrics") == [{"metric": "quality"}]


def test_a_policy_comes_from_a_file(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(
        'prefer = "score"\n[[gates]]\nkind = "coverage"\n[[gates]]\nkind = "mean_delta"\nmetric = "score"\n'
        'threshold = 0.5\nname = "a lot"\n'
    )
    verdict = told_json(capfd, *TABLE, "--baseline", "old", "--policy", "policy.toml", code=3)
    assert [row["deciding_gate"] for row in verdict["decisions"]] == ["a lot"]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("gates = 3", "write a table [[gates]] with a kind for each gate"),
        ("gate = 3", "unknown member of the policy in policy.toml: 'gate'; did you mean 'gates'?"),
        ("[[gates", "policy.toml is not TOML"),
        ('[[gates]]\nkind = "covrage"', "did you mean 'coverage'?"),
    ],
)
def test_a_wrong_policy_is_refused(capfd: Capture, tmp_path: Path, policy: str, message: str) -> None:
    (tmp_path / "policy.toml").write_text(policy)
    _, err = told(capfd, *TABLE, "--baseline", "old", "--policy", "policy.toml", code=1)
    assert message in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("ingest", "tabel", "results.csv"), 1, "unknown reader 'tabel'; did you mean 'table'?"),
        (("ingest", "table"), 2, "name the files that reader 'table' is to read"),
        (("ingest", "tabel:results.csv"), 1, "unknown reader 'tabel'; did you mean 'table'?"),
        (("ingest", "table:results.csv", "other.csv"), 2, "'other.csv' has no reader"),
        (("ingest", "table", "results.csv", "--cas", "question"), 1, "did you mean 'case'?"),
        (("ingest", "table", "nothing.csv", "--case", "question"), 1, "nothing.csv is not there"),
        ((*TABLE,), 1, "which is the baseline? Name it with --baseline; the files hold 'old', 'new'"),
        ((*TABLE, "--baseline", "old", "--rename", "score"), 2, "--rename 'score': write NAME=VALUE"),
        ((*TABLE, "--baseline", "old", "--bounds", "score=a:b"), 2, "--bounds: 'a' is no number"),
        ((*TABLE, "--baseline", "old", "--minimize", "scores"), 1, "did you mean 'score'?"),
    ],
)
def test_wrong_words_are_answered_with_what_to_do(
    capfd: Capture, words: tuple[str, ...], code: int, message: str
) -> None:
    assert message in told(capfd, *words, code=code)[1]


def test_results_of_two_tools_pair_by_what_was_asked(capfd: Capture, tmp_path: Path) -> None:
    rows = [{"id": f"t{ix}", "ask": f"what is {ix}?", "accuracy": 0.58 + ix / 100 + ix % 2 * 0.04} for ix in range(24)]
    (tmp_path / "theirs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    promptfoo = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "prompts": [{"raw": "{{q}}", "label": "{{q}}", "provider": "echo"}],
            "results": [
                {
                    "promptIdx": 0,
                    "testIdx": ix,
                    "testCase": {"vars": {"q": f"what is {ix}?"}},
                    "vars": {"q": f"what is {ix}?"},
                    "prompt": {"raw": f"what is {ix}?", "label": "{{q}}"},
                    "provider": {"id": "echo"},
                    "promptId": "p",
                    "success": True,
                    "score": 0.5 + ix / 100,
                    "response": {"output": "x"},
                    "namedScores": {},
                    "gradingResult": {"pass": True, "score": 0.5 + ix / 100, "reason": ""},
                    "latencyMs": 5,
                    "failureReason": 0,
                }
                for ix in reversed(range(24))
            ],
            "stats": {"successes": 24, "failures": 0, "errors": 0},
        },
        "config": {},
    }
    (tmp_path / "ours.json").write_text(json.dumps(promptfoo))
    verdict = told_json(
        capfd,
        *("ingest", "promptfoo:ours.json", "table:theirs.jsonl", "--baseline", "echo"),
        *("--case", "id", "--input", "ask", "--metric", "score", "--rename", "accuracy=score"),
    )
    (row,) = verdict["decisions"]
    assert (row["candidate"], row["pairs"], row["expected_pairs"]) == ("theirs.jsonl", 24, 24)
    assert row["oriented_change"] == pytest.approx(0.1)


def test_readers_are_listed_with_what_they_take(capfd: Capture) -> None:
    listed = {row["reader"] for row in told_json(capfd, "readers")}
    assert {"beir", "inspect", "promptfoo", "table", "trec"} <= listed
    out, _ = told(capfd, "readers", "table")
    assert "--case" in out


def test_a_survey_says_what_each_file_holds_and_what_stands_in_the_way(capfd: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "notes.txt").write_text("nothing of ours")
    (folder / "cut.json").write_text('{"version": 2, "status": "success", "eval": {"task": "t"')
    rows = {row["file"]: row for row in told_json(capfd, "survey", "logs")}
    assert rows["logs/notes.txt"]["reader"] is None
    assert rows["logs/cut.json"]["reader"] == "inspect"  # and no row of the table, which takes any JSON
    assert "is cut off" in rows["logs/cut.json"]["refused"][0]
    out, _ = told(
        capfd, "survey", "table", "results.csv", "--candidate", "model", "--case", "question", "--metric", "score"
    )
    assert "48" in out
