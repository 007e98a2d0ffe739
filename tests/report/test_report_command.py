"""`opfield report` as a person meets it: files, formats, verification, and what it says to wrong words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opfield.cli.app import invoke
from opfield.report import content as content_module
from tests.report.conftest import Made

Make = Callable[[str], Made]
Capture = pytest.CaptureFixture[str]


def told(capfd: Capture, *words: str | Path, code: int = 0) -> tuple[str, str]:
    assert invoke([str(each) for each in words]) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


@pytest.fixture
def read_once(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command take what was read of the win already: forms of it differ in what is made of that alone."""
    content = made("win").content
    monkeypatch.setattr(content_module, "read_report", lambda *_, **__: content)


def test_a_page_is_what_the_warehouse_gives(capfd: Capture, made: Make, tmp_path: Path) -> None:
    told(capfd, "report", "a clear win", "-o", tmp_path / "report.html", "--warehouse", made("win").root)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == made("win").page


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("name", ["report.html", "comment.md", "content.json"])
def test_a_report_is_written_by_its_name_and_verified(capfd: Capture, made: Make, tmp_path: Path, name: str) -> None:
    root = made("win").root
    file = tmp_path / name
    _, err = told(capfd, "report", "a clear win", "-o", file, "--warehouse", root)
    assert made("win").content["report_digest"] in err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert "says what the warehouse gives" in told(capfd, "report", "--verify", file, "--warehouse", root)[1]
    content = file.read_text(encoding="utf-8")
    assert content.count("0.599") > 0
    file.write_text(content.replace("0.599", "0.799", 1), encoding="utf-8")
    _, err = told(capfd, "report", "--verify", file, "--warehouse", root, code=1)
    assert "was altered" in err


@pytest.mark.usefixtures("read_once")
def test_a_report_of_other_evidence_is_told_apart(capfd: Capture, made: Make, tmp_path: Path) -> None:
    content = json.loads(told(capfd, "report", "--format", "json", "--warehouse", made("win").root)[0])
    content["report_digest"] = "sha256:" + "0" * 64
    (tmp_path / "other.json").write_text(json.dumps(content), encoding="utf-8")
    _, err = told(capfd, "report", "--verify", tmp_path / "other.json", "--warehouse", made("win").root, code=1)
    assert "does not say what the warehouse gives" in err


def test_results_go_to_stdout_and_nothing_else_does(capfd: Capture, made: Make) -> None:
    out, err = told(capfd, "report", "--json", "--no-content", "--warehouse", made("win").root)
    content = json.loads(out)
    assert content["has_texts"] is False
    assert err == ""


def test_an_unknown_campaign_lists_the_known_ones(capfd: Capture, made: Make) -> None:
    _, err = told(capfd, "report", "nobody", "--warehouse", made("win").root, code=1)
    assert "unknown campaign 'nobody'" in err
    assert "a clear win" in err


def test_a_damaged_warehouse_gives_the_finding_and_leaves_no_file(capfd: Capture, made: Make, tmp_path: Path) -> None:
    root = shutil.copytree(made("win").root, tmp_path / "damaged")
    file = max((root / "cells").rglob("*.parquet"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-40])
    target = tmp_path / "report.html"
    _, err = told(capfd, "report", "a clear win", "-o", target, "--warehouse", root, code=1)
    assert file.name in err
    assert "opfield audit" in err
    assert not target.exists()


@pytest.mark.parametrize("target", ["no/such/folder/report.html", "file/report.html", "."])
def test_where_nothing_can_be_written_the_error_names_it(
    capfd: Capture, made: Make, tmp_path: Path, target: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    words = ("report", "--format", "md", "-o", tmp_path / target, "--warehouse", made("win").root)
    _, err = told(capfd, *words, code=1)
    assert "cannot be written" in err
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff\xfe", b"# a comment", b'<!-- opfield-report {"campaign_id": 1} -->']
)
def test_what_is_no_report_cannot_be_verified(capfd: Capture, made: Make, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    _, err = told(capfd, "report", "--verify", tmp_path / "file", "--warehouse", made("win").root, code=1)
    assert "it is no report of opfield" in err


def test_two_formats_at_once_are_refused(capfd: Capture) -> None:
    assert "ask for two things" in told(capfd, "report", "--json", "--format", "md", code=2)[1]


def test_verification_takes_nothing_else(capfd: Capture, tmp_path: Path) -> None:
    assert "--verify takes a report" in told(capfd, "report", "a", "--verify", tmp_path / "x", code=2)[1]
    assert "cannot be read" in told(capfd, "report", "--verify", tmp_path / "x", code=1)[1]


@pytest.mark.parametrize("option", ["-o", "--verify"])
def test_an_empty_name_is_no_file(capfd: Capture, option: str) -> None:
    assert "it is empty; name a file" in told(capfd, "report", option, "", code=2)[1]
