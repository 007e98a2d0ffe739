"""Provenance: what produced the evidence, recorded beside the identity and outside it (DESIGN §4)."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_GIT_SECONDS: Final = 5
_INSTALLED: Final = {"site-packages", "dist-packages"}


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

    That is its module's file, all Python files of its top-level package where it is in one, and what lies beside
    that package and is imported, directly or not, lazily or not. Names are looked up as paths, so nothing is run. Of
    what is installed only the package itself counts: the rest is told by version in `provenance`, as opfield is.

    None where there is no source to be found, such as for a runner typed at a prompt.
    """
    source = _source_file(runner)
    if source is None:
        return None
    root = _root(source, str(_named(runner).__module__))
    files = {source} if _INSTALLED & set(root.parts) else _reached(source, root)
    packages = [folder for folder in source.parents if folder.is_relative_to(root) and _is_package(folder)]
    if packages:
        files.update(path for path in packages[-1].rglob("*.py") if os.path.isfile(path))
    state = hashlib.sha256()
    for path in sorted(files):
        state.update(path.relative_to(root).as_posix().encode(errors="surrogateescape") + b"\0")
        state.update(hashlib.sha256(_content(path)).digest())
    return "sha256:" + state.hexdigest()


def _root(source: Path, module: str) -> Path:
    """Return the folder above the top-level package of a module; its own folder where it is in none."""
    place = source.parent if source.name == "__init__.py" else source.with_suffix("")
    names = tuple(module.split("."))
    folder = place.parents[len(names) - 1] if place.parts[-len(names) :] == names else source.parent
    while _is_package(folder):  # a script inside a package does not have the package's name
        folder = folder.parent
    return folder


def _is_package(folder: Path) -> bool:
    return os.path.isfile(folder / "__init__.py")


def _reached(source: Path, root: Path) -> set[Path]:
    """Return a file and those below `root` that it imports, directly or not."""
    found: set[Path] = set()
    waiting = [source, *_files_of(root, source.parent.relative_to(root).parts, root)]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for level, names in _imports(file):
            if level:
                waiting += _files_of(Path(*file.parts[:-level]), names, root)
            elif names[0] != "opfield":
                waiting += _files_of(root, names, root)
    return found


def _files_of(base: Path, names: tuple[str, ...], root: Path) -> list[Path]:
    """Return the files that importing `names`, counted from the folder `base`, may run."""
    places = [base.joinpath(*names[:depth]) for depth in range(len(names) + 1)]
    files = [place / "__init__.py" for place in places] + [Path(f"{place}.py") for place in places[1:]]
    return [file for file in files if file.is_relative_to(root) and os.path.isfile(file)]


def _imports(file: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Return what a file's import statements may mean as modules: level and names; nothing of what is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(_content(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[tuple[int, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(0, tuple(alias.name.split("."))) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            found += [(node.level, (*module, alias.name)) for alias in node.names]
    return found


def _content(file: Path) -> bytes:
    """Return the bytes of a file; none where it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _named(runner: Any) -> Any:
    """Return the function or class that is written in the runner's source."""
    runner = inspect.unwrap(runner)
    while isinstance(runner, functools.partial):
        runner = inspect.unwrap(runner.func)
    if inspect.ismethod(runner):
        runner = runner.__self__
    return runner if inspect.isroutine(runner) or inspect.isclass(runner) else type(runner)


def _source_file(runner: Any) -> Path | None:
    try:
        found = inspect.getsourcefile(_named(runner))
    except (TypeError, ValueError, OSError):
        return None
    return Path(os.path.abspath(found)) if found and os.path.isfile(found) else None


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
    imported = _imports(source) if source is not None else []
    names = {"opfield", "duckdb", "polars", "pyarrow"} | {names[0] for level, names in imported if not level}
    found: dict[str, str] = {}
    for name in sorted(names - sys.stdlib_module_names):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # Imported under another name than it is distributed; asking for all names takes a second.
            continue
    return found
