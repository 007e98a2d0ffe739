"""What operations print: kept apart from the standard output of whoever runs them, and attributed.

While an operation runs, standard output leads each thread's words to where they belong: those of the operation to its
execution, those of everybody else to where they went before. Words of threads that the operation starts by itself, of
programs that it runs and of native code go past this, and so do those after somebody has put another stream in place of
standard output meanwhile; a process of its own is the remedy.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar, Token
from typing import Any, Final, TextIO, cast

#: How much of what an operation prints is kept, in characters.
MOST_PRINTED: Final = 2_000

_here: ContextVar[Printed | None] = ContextVar("printed", default=None)
_lock = threading.Lock()
_running = 0


class Printed:
    """A context in which this thread's standard output is kept.

    Attributes:
        size: characters that were printed.
    """

    __slots__ = ("_parts", "_token", "size")

    def __init__(self) -> None:
        """Make one in which nothing was printed yet."""
        self.size = 0
        self._parts: list[str] = []
        self._token: Token[Printed | None] | None = None

    def __enter__(self) -> Printed:
        """Begin to keep."""
        global _running
        with _lock:
            _running += 1
            if type(sys.stdout) is not _Led:
                sys.stdout = cast(TextIO, _Led(sys.stdout))
        self._token = _here.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Lead the thread's words to where they went before."""
        global _running
        if self._token is not None:
            _here.reset(self._token)
        with _lock:
            _running -= 1
            led: Any = sys.stdout
            if not _running and type(led) is _Led:
                sys.stdout = led.whole

    def add(self, text: str) -> None:
        """Keep a piece of what is printed, as far as there is room."""
        room = MOST_PRINTED - self.size
        if room > 0:
            self._parts.append(text[:room])
        self.size += len(text)

    def text(self) -> str:
        """Return what was printed, with how much more there was than is kept."""
        # Lone surrogates have no place in evidence.
        kept = "".join(self._parts).encode(errors="backslashreplace").decode()
        return kept if self.size <= MOST_PRINTED else f"{kept}… and {self.size - MOST_PRINTED:,} characters more"


class _Led:
    """Standard output while operations run."""

    def __init__(self, whole: TextIO | None) -> None:
        self.whole: Any = whole

    def write(self, text: str) -> int:
        kept = _here.get()
        if kept is not None:
            if not isinstance(text, str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            kept.add(text)
            return len(text)
        return len(text) if self.whole is None else int(self.whole.write(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for each in lines:
            self.write(each)

    def flush(self) -> None:
        if _here.get() is None and self.whole is not None:
            self.whole.flush()

    @property
    def buffer(self) -> Any:
        kept = _here.get()
        return self.whole.buffer if kept is None else _Bytes(kept)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


class _Bytes:
    """The binary side of what is kept."""

    def __init__(self, kept: Printed) -> None:
        self._kept = kept

    def write(self, content: bytes) -> int:
        self._kept.add(bytes(content).decode(errors="replace"))
        return len(content)

    def flush(self) -> None:
        """Do nothing: what is kept is kept at once."""
