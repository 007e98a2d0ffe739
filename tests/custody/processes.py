"""Starting `tests.custody.work` and speaking with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def start(
    root: Path, executor: str = "threads", locking: str = "hold", name: str = "weighted", **environment: str
) -> subprocess.Popen[str]:
    """Start a worker and return once it has imported everything."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.custody.work", str(root), executor, locking, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said == "ready\n", process.communicate()
    return process


def go(process: subprocess.Popen[str]) -> None:
    """Have it run the campaign."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for its end and return what it told."""
    out, errors = process.communicate(timeout=300)
    assert out, errors
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    return answer
