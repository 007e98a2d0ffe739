"""Cancellation: how work that runs is asked to stop, and how it says that it did (§25.5, §32.3)."""

from __future__ import annotations

import threading
from weakref import WeakSet


class CancelledError(BaseException):
    """The work was asked to stop and did.

    It is no `Exception`, so that an operation's own handling of failures never takes it for one.
    """


class Cancellation:
    """A request to stop, from whoever asks to whoever looks; once made, it stands.

    An operation that takes one looks at it every so often, by `check` or by `wait` instead of sleeping, and has put
    away what it began by the time it raises.
    """

    __slots__ = ("__weakref__", "_asked", "_children", "_lock", "_reason")

    def __init__(self) -> None:
        """Make one that nobody has asked by yet."""
        self._asked = threading.Event()
        self._reason = ""
        self._lock = threading.Lock()
        self._children: WeakSet[Cancellation] | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the work is asked to stop."""
        return self._asked.is_set()

    @property
    def reason(self) -> str:
        """Why it is asked to stop; empty where nobody said."""
        return self._reason

    def cancel(self, reason: str = "") -> None:
        """Ask to stop, and all that is part of the work with it; the first reason stands."""
        with self._lock:
            if self._asked.is_set():
                return
            self._reason = reason
            self._asked.set()
            children = list(self._children or ())
        for each in children:
            each.cancel(reason)

    def check(self) -> None:
        """Stop here where it was asked for.

        Raises:
            CancelledError: with the reason.
        """
        if self.is_cancelled:
            raise CancelledError(self._reason or "asked to stop")

    def wait(self, seconds: float) -> bool:
        """Wait until asked to stop, at most so long; return whether it was asked for."""
        return self._asked.wait(seconds)

    def part(self) -> Cancellation:
        """Return the cancellation of a part of the work: asked with the whole, or by itself."""
        made = Cancellation()
        with self._lock:
            if self._children is None:
                self._children = WeakSet()
            self._children.add(made)
            is_late, reason = self._asked.is_set(), self._reason
        if is_late:
            made.cancel(reason)
        return made
