"""Every example runs, and says what the views say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

import opfield as of
from tests.examples.conftest import EXAMPLES, example
from tests.export.odd import FORMULA

SHELL = shutil.which("duckdb", path=sysconfig.get_path("scripts")) or shutil.which("duckdb")


def runs(name: str, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr("sys.argv", [f"{name}.py", str(root)])
    example(name).main()
    return capfd.readouterr().out


def test_result_files_tell_the_decisions_of_the_views(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = example("decisions").decisions(root)
    expected = of.open(root, is_snapshot=True).sql("""
        select
            campaigns.name,
            decisions.label,
            decisions.decision,
            decisions.gate,
            decisions.candidate_id = campaigns.selected_id,
            campaigns.preference,
            comparisons.mean_delta,
            comparisons.ci_low,
            comparisons.ci_high,
            comparisons.pairs,
        from decisions
        inner join campaigns using (campaign_id)
        left join comparisons
            on comparisons.campaign_id = decisions.campaign_id
            and comparisons.candidate_id = decisions.candidate_id
            and comparisons.metric = campaigns.preference
        order by campaigns.started_at, decisions.campaign_id, decisions.label
    """)
    assert found.rows() == expected.fetchall()
    assert found["is_selected"].sum() == 1
    assert "quadratic" in runs("decisions", root, monkeypatch, capfd)


def test_changes_of_cases_are_those_of_the_views(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = example("wins_and_losses").changes(root).collect()
    expected = of.open(root, is_snapshot=True).sql("""
        select candidates.label, deltas.metric, deltas.case_id, avg(deltas.delta), count(deltas.delta)
        from deltas
        inner join candidates using (campaign_id, candidate_id)
        group by all
        having count(deltas.delta) > 0
    """)
    told = {
        (row["label"], row["metric"], row["case_id"]): (pytest.approx(row["change"]), row["pairs"])
        for row in found.filter(found["pairs"] > 0).iter_rows(named=True)
    }
    assert told == {row[:3]: row[3:] for row in expected.fetchall()}
    assert "x=3" in runs("wins_and_losses", root, monkeypatch, capfd)


def test_failures_and_costs_are_told(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    failures = example("learn_from_failures").failures(of.open(root, is_snapshot=True))
    assert failures.select("label", "status", "failure_code", "cells").rows() == [
        (FORMULA, "domain_failure", "no_answer", 2)
    ]
    out = runs("learn_from_failures", root, monkeypatch, capfd)
    assert "no_answer" in out
    assert "x=3" in out


def test_the_notebook_runs_as_a_script_and_shows_every_cell(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("marimo", reason="marimo is not installed; the extra `dashboard` brings it")
    monkeypatch.setattr("sys.argv", ["notebook.py", str(root)])
    outputs, values = example("notebook").app.run()
    shown = [output for output in outputs if output is not None]
    assert len(shown) == 5
    assert values["decisions"].count == len(set(values["changes"]["label"])) == 4
    assert {"target=2.8", "target=3.0", "target=3.2"} == set(values["cases"]["case_id"])


def test_the_shell_answers_without_python(root: Path) -> None:
    if SHELL is None:
        pytest.skip("DuckDB's shell is not installed; the extra `dev` brings it")
    done = subprocess.run(
        [SHELL, "-init", "open.sql", "-csv"],
        input=(EXAMPLES / "shell.sql").read_text(),
        cwd=root,
        env={**os.environ, "HOME": str(root.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "quadratic,selected,x=3,9.0" in done.stdout.splitlines()
    assert "failures,fail,true" in done.stdout
    assert "Short name for people." in done.stdout
    header = ",".join(of.open(root, is_snapshot=True).sql("from comparisons limit 0").columns)
    assert done.stdout.splitlines().count(header) == 1
    assert "Error" not in done.stderr


def test_the_readme_names_every_example_and_nothing_else() -> None:
    told = (EXAMPLES / "README.md").read_text()
    names = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()}
    names = {name for name in names if "__" not in name} - {"README.md"}
    assert {line.split("`")[1] for line in told.splitlines() if line.startswith("| `")} == names
