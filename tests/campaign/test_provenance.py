"""Provenance: a change in what the runner stands on is seen, wherever beside it the change is made."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opfield.campaign.provenance import provenance, runner_source

FILES = {
    "mine.py": "from helper import factor\nfrom parts.tools import grow\ndef run(trial): return {'m': grow(factor)}\n",
    "helper.py": "import constants\nfactor = constants.FACTOR\n",
    "constants.py": "FACTOR = 2\n",
    "parts/__init__.py": "",
    "parts/tools.py": "def grow(x): return x\n",
    "unrelated.py": "x = 1\n",
}


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield importlib.import_module("mine").run
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("changed", ["mine.py", "helper.py", "constants.py", "parts/tools.py"])
def test_a_change_in_anything_imported_beside_the_runner_is_seen(tmp_path: Path, runner: Any, changed: str) -> None:
    before = runner_source(runner)
    assert before is not None
    (tmp_path / changed).write_text(FILES[changed] + "# changed\n", encoding="utf-8")
    assert runner_source(runner) != before
    (tmp_path / changed).write_text(FILES[changed], encoding="utf-8")
    assert runner_source(runner) == before


def test_a_file_that_nothing_imports_is_none_of_it(tmp_path: Path, runner: Any) -> None:
    before = runner_source(runner)
    (tmp_path / "unrelated.py").write_text("x = 2\n", encoding="utf-8")
    assert runner_source(runner) == before


def test_what_was_named_and_what_was_installed_is_told(runner: Any) -> None:
    told = provenance(runner, "mine:campaign", {"data": Path("folder"), "limit": 3})
    assert (told["target"], told["options"]) == ("mine:campaign", {"data": "folder", "limit": 3})
    assert {"opfield", "duckdb", "polars", "pyarrow"} <= set(told["versions"])


def test_a_runner_typed_at_a_prompt_has_no_source() -> None:
    scope: dict[str, Any] = {}
    exec("def run(trial): return {}", scope)  # as at a prompt: no file behind it
    assert runner_source(scope["run"]) is None
