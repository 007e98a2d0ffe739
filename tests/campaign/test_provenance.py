"""Provenance: a change in what the runner stands on is seen, wherever beside it the change is made."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


PACKAGE = {
    "top/__init__.py": "import around\n",
    "top/dynamic.py": "",
    "around.py": "",
    "top/util.py": "import beside\n",
    "top/loud.py": "raise RuntimeError('it was run')\n",
    "top/sub/__init__.py": "",
    "top/sub/r.py": (
        "from functools import partial, wraps\n"
        "from . import near\n"
        "def run(trial):\n    from top import util\n    import quiet.part.deep\n    import broken, latin\n"
        "    from .... import beyond\n"
        "class Judge:\n    def run(self, trial): ...\n"
    ),
    "top/sub/near.py": "from .. import loud\n",
    "beside.py": "x = 1\n",
    "quiet/__init__.py": "raise RuntimeError('it was run')\n",
    "quiet/part/__init__.py": "",
    "quiet/part/deep.py": "from .. import sibling\n",
    "quiet/sibling.py": "",
    "quiet/unused.py": "",
    "broken.py": "def (:\n",
}


@contextmanager
def written(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with written(tmp_path, FILES, monkeypatch):
        yield importlib.import_module("mine").run


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    quiet = {name: "" if "raise R" in text else text for name, text in PACKAGE.items()}
    with written(tmp_path, quiet, monkeypatch):
        module = importlib.import_module("top.sub.r")
        for name, text in PACKAGE.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
        yield module


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


SEEN = [*(set(PACKAGE) - {"quiet/unused.py"}), "latin.py"]


@pytest.mark.parametrize("changed", sorted(SEEN))
def test_a_change_in_its_package_or_in_what_that_imports_is_seen(tmp_path: Path, packaged: Any, changed: str) -> None:
    before = runner_source(packaged.run)
    assert before is not None
    with (tmp_path / changed).open("ab") as file:
        file.write(b"# changed\n")
    assert runner_source(packaged.run) != before
    assert "quiet" not in sys.modules  # names were looked up, nothing was run


def test_a_module_of_a_package_beside_that_nothing_imports_is_none_of_it(tmp_path: Path, packaged: Any) -> None:
    before = runner_source(packaged.run)
    (tmp_path / "quiet" / "unused.py").write_text("x = 2\n", encoding="utf-8")
    (tmp_path / "top" / ".#r.py").symlink_to("nowhere")  # as an editor leaves it
    (tmp_path / "top" / "folder.py").mkdir()
    assert runner_source(packaged.run) == before


def test_a_runner_that_wraps_another_stands_on_that_ones_source(packaged: Any) -> None:
    expected = runner_source(packaged.run)
    judge = packaged.Judge()

    @functools.wraps(packaged.run)
    def wrapper(trial: Any) -> Any:
        return packaged.run(trial)

    for each in (functools.partial(packaged.run), functools.partial(wrapper), wrapper, judge.run):
        assert runner_source(each) == expected


def test_a_script_inside_a_package_has_the_source_of_the_module(
    packaged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = runner_source(packaged.run)
    monkeypatch.setattr(packaged.run, "__module__", "__main__")
    assert runner_source(packaged.run) == expected


@pytest.mark.parametrize(("folder", "sees_others"), [("project", True), ("site-packages", False)])
def test_of_an_installed_package_only_its_own_files_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, sees_others: bool
) -> None:
    place = tmp_path / folder
    files = {"pack/__init__.py": "import other\n", "pack/run.py": "def run(trial): ...\n", "other.py": ""}
    with written(place, files, monkeypatch):
        run = importlib.import_module("pack.run").run
        before = runner_source(run)
        (place / "other.py").write_text("x = 1\n", encoding="utf-8")
        between = runner_source(run)
        assert (between != before) is sees_others
        (place / "pack" / "more.py").write_text("x = 1\n", encoding="utf-8")
        assert runner_source(run) != between


def test_what_was_named_and_what_was_installed_is_told(runner: Any) -> None:
    told = provenance(runner, "mine:campaign", {"data": Path("folder"), "limit": 3})
    assert (told["target"], told["options"]) == ("mine:campaign", {"data": "folder", "limit": 3})
    assert {"opfield", "duckdb", "polars", "pyarrow"} <= set(told["versions"])


def test_a_runner_typed_at_a_prompt_has_no_source() -> None:
    scope: dict[str, Any] = {}
    exec("def run(trial): return {}", scope)  # as at a prompt: no file behind it
    assert runner_source(scope["run"]) is None
