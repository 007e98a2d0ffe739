"""Provenance: what produced the evidence, recorded beside the identity and outside it (DESIGN §4)."""

from __future__ import annotations

import hashlib
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
    """Return a digest over the source that defines the runner: its package's Python files, or its module's file.

    None where there is no source to be found, such as for a runner typed at a prompt.
    """
    source = _source_file(runner)
    if source is None:
        return None
    in_package = (source.parent / "__init__.py").exists()
    files = sorted(source.parent.rglob("*.py")) if in_package else [source]
    state = hashlib.sha256()
    for path in files:
        state.update(path.relative_to(source.parent).as_posix().encode() + b"\0")
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return "sha256:" + state.hexdigest()


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
    module = sys.modules.get(getattr(runner, "__module__", None) or type(runner).__module__)
    names = {"opfield", "duckdb", "polars", "pyarrow"}
    for value in vars(module).values() if module is not None else ():
        origin = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        if isinstance(origin, str):
            names.add(origin.partition(".")[0])
    found: dict[str, str] = {}
    for name in sorted(names - sys.stdlib_module_names):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # Imported under another name than it is distributed; asking for all names takes a second.
            continue
    return found
