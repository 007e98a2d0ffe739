"""A process that dies at a chosen durable step: from there on nothing of it reaches the disk any more, and what it left
unfinished stays where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from opfield.warehouse import durable


class Crashed(BaseException):
    """The process is dead."""


@contextmanager
def counting(at: int | None = None, between: Callable[[], None] = lambda: None) -> Iterator[list[str]]:
    """Count the durable steps (a sync, a link, a rename), calling `between` before each; die at the `at`-th one."""
    steps: list[str] = []

    def stepping(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def step(*arguments: Any) -> Any:
            if at is not None and len(steps) >= at:
                raise Crashed
            between()
            steps.append(name)
            return real(*arguments)

        return step

    class DyingOs:
        """The part of `os` that `durable` uses."""

        fsync = staticmethod(stepping("fsync"))
        link = staticmethod(stepping("link"))
        replace = staticmethod(stepping("replace"))

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if at is None or len(steps) < at:
            real_unlink(path, missing_ok)

    real_unlink = Path.unlink
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable, "os", DyingOs())
        patch.setattr(Path, "unlink", unlink)
        yield steps
