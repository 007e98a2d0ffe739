"""The workflow for pull requests: what it may do, and that its commands do what they should, in order."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import EXAMPLES

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; marimo of the extra `dev` brings it")

WORKFLOW: dict[Any, Any] = yaml.safe_load((EXAMPLES / "ci" / "opfield.yml").read_text())
JOBS: dict[str, Any] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]

#: A `gh` that writes down what it is asked, and answers as if there were one earlier comment, or none.
STUB = """#!/bin/sh
printf '%s\\n' "$*" >> "$ASKED"
case "$*" in *--paginate*) cat "$EARLIER" ;; esac
for argument in "$@"; do case "$argument" in body=@*) cat "${argument#body=@}" > "$BODY" ;; esac; done
"""


def test_it_runs_on_pull_requests_without_more_rights_than_it_needs() -> None:
    assert WORKFLOW[True] == "pull_request"  # YAML 1.1 takes `on` for a truth value; GitHub does not
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "evaluate": {"contents": "read"},
        "comment": {"pull-requests": "write"},
    }
    # The job that may write takes no code from the pull request, and does not run for forks.
    assert not any("checkout" in step.get("uses", "") for step in JOBS["comment"]["steps"])
    assert "head.repo.full_name == github.repository" in JOBS["comment"]["if"]
    assert all("timeout-minutes" in job for job in JOBS.values())


def test_actions_are_pinned_by_their_major_version() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert len(used) == 4
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", each) for each in used)


def test_no_expression_reaches_a_command() -> None:
    assert not any("${{" in step["run"] for step in STEPS if "run" in step)


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=lambda step: step["name"])
def test_every_command_is_bash(step: dict[str, Any]) -> None:
    done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def run_step(name: str, folder: Path, **environment: str) -> int:
    (step,) = (step for step in STEPS if step.get("name") == name)
    scripts = sysconfig.get_path("scripts")
    job = next(job for job in JOBS.values() if step in job["steps"])
    told = {key: value for key, value in job["env"].items() if "${{" not in value}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **told, "PATH": f"{folder / 'bin'}:{scripts}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(STUB)
    (tmp_path / "bin" / "gh").chmod(0o755)
    return tmp_path


def test_a_campaign_becomes_a_report_and_a_verdict(folder: Path, odd_root: Path) -> None:
    root = Path(__file__).parents[2]
    # The campaign is finished already, so that only its verdict is to be told.
    shutil.copytree(odd_root, folder / "warehouse")
    told = {"CAMPAIGN": "tests.export.odd:campaign", "PYTHONPATH": str(root)}
    assert run_step("run the campaign", folder, **told) == 0  # the baseline is kept, which is no error
    assert run_step("report", folder, GITHUB_STEP_SUMMARY=str(folder / "summary.md")) == 0
    report = (folder / "report.md").read_text()
    assert (folder / "summary.md").read_text() == report
    assert "<script>" not in report
    assert (folder / "report.html").stat().st_size > 1_000
    assert run_step("judge", folder) == 3
    assert (folder / "gates.xml").exists()


@pytest.mark.parametrize("earlier", ["", "12\n34\n"])
def test_the_report_is_posted_in_place_of_an_earlier_one(folder: Path, earlier: str) -> None:
    report = "$(touch hacked) `touch hacked` ; touch hacked\n" + "x" * 70_000
    (folder / "report.md").write_text(report)
    (folder / "earlier").write_text(earlier)
    places = {"ASKED": "asked", "EARLIER": "earlier", "BODY": "body"}
    environment = {"GH_TOKEN": "t", "REPOSITORY": "o/r", "NUMBER": "7", **places}
    assert run_step("comment, in place of an earlier one", folder, **environment) == 0
    asked = (folder / "asked").read_text().splitlines()
    assert asked[0].startswith("api --paginate repos/o/r/issues/7/comments --jq ")
    assert asked[1:] == [
        "api --silent --method PATCH repos/o/r/issues/comments/12 --field body=@comment.md"
        if earlier
        else "api --silent --method POST repos/o/r/issues/7/comments --field body=@comment.md"
    ]
    assert (folder / "body").read_text() == report[:60_000]
    assert not (folder / "hacked").exists()


def test_the_earlier_comment_is_found_by_what_a_report_ends_with() -> None:
    jq = shutil.which("jq")
    if jq is None:
        pytest.skip("jq is not installed, in whose language `gh` filters")
    (step,) = (step for step in STEPS if step.get("name") == "comment, in place of an earlier one")
    found = re.search(r"^earlier='(.*)'$", step["run"], re.MULTILINE)
    assert found is not None
    bot = {"login": "github-actions[bot]"}
    comments = [
        {"id": 1, "user": {"login": "somebody"}, "body": "<!-- opfield-report {} -->"},
        {"id": 2, "user": bot, "body": "coverage is 90 %"},
        {"id": 3, "user": bot, "body": "### ✅\n\n<!-- opfield-report {} -->"},
    ]
    done = subprocess.run([jq, found[1]], input=json.dumps(comments), text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["3"]
