"""The code of a page of documentation, run as a reader would type it: block after block, in one folder.

A block of bash, Python or SQL runs, and the text block right below it is what a terminal shows of that: both streams,
in order. `[...]` stands for text that varies, and on a line of its own for any number of lines. A comment above a block
says more about it:

    <!-- file: mine.py -->            the block is a file of this name
    <!-- exit: 4 -->                  the exit code of its last command, 0 where nothing is said
    <!-- not run: why -->             it cannot run here
    <!-- goes on from: page.md -->    anywhere: the page starts in the folder in which that page ended
"""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from opfield.cli.app import invoke

_MARK: Final = re.compile(r"<!-- (file|exit|not run|goes on from): (.+?) -->")
_FENCE: Final = re.compile(r"^(`{3,})([\w-]*)$")
#: What only a shell understands; a line without it is run in this process, which takes a tenth of the time.
_SHELL: Final = re.compile(r"[|<>&;$`*?~]|\\$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        language: word after the fence; empty where there is none.
        text: what stands in it.
        line: line of the fence, counted from 1.
        marks: what comments above it say.
        is_output: whether it stands right below a block that ran, and shows what that printed.
    """

    language: str
    text: str
    line: int
    marks: Mapping[str, str] = field(default_factory=dict)
    is_output: bool = False


def blocks_of(text: str) -> tuple[Block, ...]:
    """Return the fenced blocks of a page."""
    found: list[Block] = []
    marks: dict[str, str] = {}
    lines = iter(enumerate(text.splitlines(), start=1))
    is_right_below = False
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            mark = _MARK.fullmatch(line)
            if mark:
                marks[mark[1]] = mark[2]
            elif line.strip():
                marks, is_right_below = {}, False
            continue
        held = []
        for _, each in lines:
            if each == fence[1]:
                break
            held.append(each)
        content = "".join(f"{each}\n" for each in held)
        is_output = fence[2] == "text" and is_right_below and not marks
        found.append(Block(fence[2], content, number, marks, is_output))
        marks, is_right_below = {}, fence[2] != "text" and "not run" not in marks
    return tuple(found)


def starts_from(text: str) -> str | None:
    """Return the page in whose folder this page goes on; None where it starts in an empty one."""
    found = re.search(r"^<!-- goes on from: (.+?) -->$", text, re.MULTILINE)
    return found[1] if found else None


def run_page(name: str, text: str) -> None:
    """Run the blocks of a page in the current folder, and compare what they print with what the page shows.

    Raises:
        AssertionError: naming the page and the line.
    """
    scope: dict[str, Any] = {"__name__": "__page__"}
    printed = ""
    for block in blocks_of(text):
        place = f"{name}, line {block.line}"
        if "not run" in block.marks:
            continue
        if block.is_output:
            assert fits(block.text, printed), f"{place} shows\n{block.text}\nbut this was printed:\n{printed}"
            continue
        with _own_modules():
            printed, code = run_block(block, scope, place)
        asked = int(block.marks.get("exit", "0"))
        assert code == asked, f"{place} ended with exit code {code}, not {asked}:\n{printed}"


def run_block(block: Block, scope: dict[str, Any], place: str) -> tuple[str, int]:
    """Run one block in the current folder; return what it printed, and the exit code of its last command.

    Raises:
        AssertionError: where nobody said what to do with a block of its language.
    """
    file = block.marks.get("file")
    if file is not None:
        Path(file).write_text(block.text, encoding="utf-8")
        return "", 0
    match block.language:
        case "bash":
            return _run_bash(block.text, place)
        case "python":
            sys.path.insert(0, str(Path.cwd()))  # as Python does for who types in this folder
            with _captured() as stream:
                exec(compile(block.text, place, "exec"), scope)  # the page's own lines
            return stream.getvalue().decode(), 0
        case "sql":
            return _invoked(["sql", block.text])
        case "toml":
            tomllib.loads(block.text)
            return "", 0
    raise AssertionError(f"{place}: a block of {block.language or 'no language'} that is neither file nor output")


def fits(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, trailing space aside."""
    pattern = ""
    for line in _lines(shown):
        any_lines = line.strip() == "[...]"
        pattern += r"(?:.*\n)*?" if any_lines else ".*".join(map(re.escape, line.split("[...]"))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(printed))) is not None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _run_bash(text: str, place: str) -> tuple[str, int]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if any(_SHELL.search(line) or not line.startswith("opfield ") for line in lines):
        return _run_shell(text)
    printed, code = "", 0
    for line in lines:
        assert code == 0, f"{place}: exit code {code} before {line!r}:\n{printed}"
        told, code = _invoked(shlex.split(line)[1:])
        printed += told
    return printed, code


def _run_shell(text: str) -> tuple[str, int]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout, done.returncode


def _invoked(words: list[str]) -> tuple[str, int]:
    with _captured() as stream:
        code = invoke(words)
    return stream.getvalue().decode(), code


@contextmanager
def _captured() -> Iterator[io.BytesIO]:
    """Catch both streams as a terminal shows them, bytes that go below the text included."""
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding="utf-8", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield held
    stream.detach()


@contextmanager
def _own_modules() -> Iterator[None]:
    """Let a block import what the current folder holds now, and leave nothing of it behind."""
    here, path = Path.cwd(), list(sys.path)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = writes_bytecode
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file is not None and Path(file).is_relative_to(here):
                del sys.modules[name]
