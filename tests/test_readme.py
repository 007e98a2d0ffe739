"""The README is what a new user types: each of its code blocks runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke
from opfield.warehouse.views import load_views

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


CAMPAIGN, POLICY, POLARS = blocks("python")


@pytest.fixture
def rag_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert invoke(["run", "rag"]) == 0
    capfd.readouterr()
    return tmp_path


def test_a_users_own_campaign_is_at_most_25_lines_and_runs(tmp_path: Path) -> None:
    lines = [line for line in CAMPAIGN.splitlines() if line.strip()]
    assert len(lines) <= 25
    (tmp_path / "mine.py").write_text(CAMPAIGN, encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "opfield", "run", "mine:campaign"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "selected: top-2" in told.stdout


def test_the_policy_that_infers_is_understood_as_it_stands() -> None:
    import opfield as of

    scope: dict[str, Any] = {"of": of}
    exec(compile(POLICY, "README.md", "exec"), scope)  # the README's own lines
    installed = load_views()
    scope["policy"].check(("recall", "faithful"), installed.gate_kinds, installed.gate_needs, installed.gate_takes)
    scope["policy"].check_scopes([{"role": "admin"}, {"role": "user"}])
    assert [gate.kind for gate in scope["policy"].gates] == re.findall(r"^        of\.(\w+)\(", POLICY, re.MULTILINE)


def test_every_gate_of_the_table_is_one_that_the_library_makes() -> None:
    import opfield as of

    table = TEXT[TEXT.index("| gate | what it asks |") :].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named | {"mean_delta", "worst_delta", "candidate_mean"} == set(load_views().gate_kinds)
    assert all(callable(getattr(of, name)) for name in named)


def test_the_printed_table_is_what_the_demo_prints(rag_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["compare"]) == 0
    printed = {" ".join(line.split()) for line in capfd.readouterr().out.splitlines()}
    table = next(block for block in blocks("") if "deciding gate" in block)
    shown = [" ".join(line.split()) for line in table.splitlines() if line.strip()]
    assert len(shown) == 12
    assert [line for line in shown if line not in printed] == []


def test_the_polars_lines_reproduce_a_comparison(rag_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import opfield as of

    scope: dict[str, object] = {}
    exec(compile(POLARS, "README.md", "exec"), scope)  # the README's own lines
    cases = scope["cases"]
    found = cases.group_by("candidate_id").agg(delta=__import__("polars").col("delta").mean()).collect()  # type: ignore[attr-defined]
    by_hand = dict(found.rows())
    view = of.open(rag_warehouse / "warehouse").sql(
        "select candidate_id, mean_delta from comparisons where metric = 'recall'"
    )
    by_view = dict(view.fetchall())
    assert by_hand.keys() == by_view.keys()
    assert all(abs(by_hand[name] - by_view[name]) < 1e-12 for name in by_view)


def test_every_named_command_and_option_exists(rag_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"`opfield ([a-z]+)", TEXT)) | {"finish", "cancel", "compare", "show", "seal"}
    for command in sorted(named):
        assert invoke([command, "--help"]) == 0, command
    query = re.search(r'`opfield sql ("[^`]+")`', TEXT)
    assert query is not None
    assert invoke(["sql", *shlex.split(query[1])]) == 0
