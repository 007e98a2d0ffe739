"""The README is what a new user types: each of its code blocks runs."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke
from opfield.warehouse.views import load_views
from tests.markdown_blocks import Block, blocks_of, run_block

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = blocks_of(TEXT)
CAMPAIGN, POLICY, POLARS = (block for block in BLOCKS if block.language == "python")


@pytest.fixture
def rag_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert invoke(["run", "rag"]) == 0
    capfd.readouterr()
    return tmp_path


def test_a_users_own_campaign_is_at_most_25_lines_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for line in CAMPAIGN.text.splitlines() if line.strip()]
    assert len(lines) <= 25
    run_block(replace(CAMPAIGN, marks={"file": "mine.py"}), {}, "README.md")
    # In a shell, as a reader does: it finds the module in the current folder.
    printed, code = run_block(Block("bash", "set -e\nopfield run mine:campaign\n", CAMPAIGN.line), {}, "README.md")
    assert code == 0, printed
    assert "selected: top-2" in printed


def test_the_policy_that_infers_is_understood_as_it_stands() -> None:
    import opfield as of

    scope: dict[str, Any] = {"of": of}
    run_block(POLICY, scope, "README.md")
    installed = load_views()
    scope["policy"].check(("recall", "faithful"), installed.gate_kinds, installed.gate_needs, installed.gate_takes)
    scope["policy"].check_scopes([{"role": "admin"}, {"role": "user"}])
    gates = re.findall(r"^        of\.(\w+)\(", POLICY.text, re.MULTILINE)
    assert [gate.kind for gate in scope["policy"].gates] == gates


def test_every_gate_of_the_table_is_one_that_the_library_makes() -> None:
    import opfield as of

    table = TEXT[TEXT.index("| gate | what it asks |") :].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named | {"mean_delta", "worst_delta", "candidate_mean"} == set(load_views().gate_kinds)
    assert all(callable(getattr(of, name)) for name in named)


def test_the_printed_table_is_what_the_demo_prints(rag_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["compare"]) == 0
    printed = {" ".join(line.split()) for line in capfd.readouterr().out.splitlines()}
    table = next(block.text for block in BLOCKS if "deciding gate" in block.text)
    shown = [" ".join(line.split()) for line in table.splitlines() if line.strip()]
    assert len(shown) == 12
    assert [line for line in shown if line not in printed] == []


def test_the_polars_lines_reproduce_a_comparison(rag_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import opfield as of

    scope: dict[str, Any] = {}
    run_block(POLARS, scope, "README.md")
    found = scope["cases"].group_by("candidate_id").agg(delta=scope["pl"].col("delta").mean()).collect()
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
