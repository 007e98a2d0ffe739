"""Provenance: what produced the evidence, recorded beside the identity and outside it (DESIGN §4)."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_GIT_SECONDS: Final = 5


def provenance(runner: Any, target: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a campaign's runner comes from, as `campaign.started` records it.

    Args:
        runner: the runner.
        target: what was named on the command line, so that `opfield resume` can find it again; None from Python.
        options: options given with it.
    """
    source = _source_file(runner)
    return {
        "target": target,
        "options": {
            key: value if isinstance(value, int | float | str) else str(value) for key, value in options.items()
        },
        "source": runner_source(runner),
        "git": _git_state(source.parent) if source else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": _versions(runner),
    }


def runner_source(runner: Any) -> str | None:
    """Return a digest over the source that the runner stands on.

    That is its module's file, all Python files of its package where it is in one, and the modules in the same folder
    that it imports, directly or not. What is installed elsewhere is told by version in `provenance`.

    None where there is no source to be found, such as for a runner typed at a prompt.
    """
    source = _source_file(runner)
    if source is None:
        return None
    files = {source, *_beside(_module_name(runner), source.parent)}
    if (source.parent / "__init__.py").exists():
        files.update(source.parent.rglob("*.py"))
    state = hashlib.sha256()
    for path in sorted(files):
        state.update(path.relative_to(source.parent).as_posix().encode() + b"\0")
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return "sha256:" + state.hexdigest()


def _beside(name: str, folder: Path) -> set[Path]:
    """Return the files in a folder that a module consists of and imports, directly or not, lazily or not."""
    found: set[Path] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        file = _module_file(current)
        if file is None or file in found or not file.is_relative_to(folder):
            continue
        if "site-packages" in file.relative_to(folder).parts:
            continue
        found.add(file)
        package = current if file.name == "__init__.py" else current.rpartition(".")[0]
        waiting += _imported_names(file, package)
    return found


def _module_file(name: str) -> Path | None:
    """Return the Python file of a module, found without running it."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None and name != "__main__":
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file) if file is not None and file.endswith(".py") and Path(file).is_file() else None


def _imported_names(file: Path, package: str) -> set[str]:
    """Return the names that a file's import statements may mean as modules."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or node.level) and (package or not node.level):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def _module_name(runner: Any) -> str:
    return str(getattr(runner, "__module__", None) or type(runner).__module__)


def _source_file(runner: Any) -> Path | None:
    named = runner if inspect.isroutine(runner) or inspect.isclass(runner) else type(runner)
    try:
        found = inspect.getsourcefile(inspect.unwrap(named))
    except (TypeError, OSError):
        return None
    path = Path(found) if found else None
    return path if path is not None and path.is_file() else None


def _git_state(folder: Path) -> dict[str, Any] | None:
    def ask(*words: str) -> str | None:
        try:
            told = subprocess.run(
                ["git", "-C", str(folder), *words],
                capture_output=True,
                text=True,
                timeout=_GIT_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return told.stdout.strip()

    commit = ask("rev-parse", "HEAD")
    if commit is None:
        return None
    changed = ask("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "is_dirty": None if changed is None else bool(changed)}


def _versions(runner: Any) -> dict[str, str]:
    """Return the versions of what the runner's module has imported, and of our own foundations."""
    source = _source_file(runner)
    imported = _imported_names(source, "") if source is not None else set()
    names = {"opfield", "duckdb", "polars", "pyarrow"} | {name.partition(".")[0] for name in imported}
    found: dict[str, str] = {}
    for name in sorted(names - sys.stdlib_module_names):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # Imported under another name than it is distributed; asking for all names takes a second.
            continue
    return found
