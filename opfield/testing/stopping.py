"""Whether an operation that takes a cancellation stops when it is asked to, and leaves nothing behind (§47.3, §C.5)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from opfield.core.cancellation import Cancellation, CancelledError
from opfield.plugin import Context, Operation
from opfield.testing.effects import Watched, watch


class _Asking(Cancellation):
    """A cancellation that counts how often it is looked at, and asks to stop at one of the looks.

    Nobody waits by it: time passes at once, so that trying an operation takes no longer than what it computes.
    """

    __slots__ = ("at", "looks")

    def __init__(self, at: int | None) -> None:
        super().__init__()
        self.at = at
        self.looks = 0

    @property
    def is_cancelled(self) -> bool:
        return self._look()

    def check(self) -> None:
        if self._look():
            raise CancelledError(self.reason)

    def wait(self, seconds: float) -> bool:  # noqa: ARG002  the cancellation's form
        return self._look()

    def _look(self) -> bool:
        self.looks += 1
        if self.at is not None and self.looks >= self.at:
            self.cancel("the conformance kit asks it to stop")
        return super().is_cancelled


def unstopped(operation: Operation, values: Callable[[], Sequence[Any]], within_s: float) -> Iterator[str]:
    """Yield how an operation that takes a cancellation does not stop when it is asked to.

    It is asked at the first time that it looks, at the last, and at one between.

    Args:
        operation: the operation.
        values: gives new values for its inputs.
        within_s: how long it may go on once it is asked.
    """
    never = _Asking(None)
    if _outcome(operation, values(), never, Watched(), within_s) == "late":
        yield f"does not end within {within_s:g} s"
        return
    if not never.looks:
        yield "takes a cancellation, and never looks whether it is asked to stop"
        return
    for at in sorted({1, (never.looks + 1) // 2, never.looks}):
        seen = Watched()
        ended = _outcome(operation, values(), _Asking(at), seen, within_s)
        asked = f"asked to stop at look {at} of {never.looks}"
        if ended == "late":
            # What goes on would disturb whatever is tried next.
            yield f"{asked}, it goes on for more than {within_s:g} s"
            return
        if ended == "finished":
            yield f"{asked}, it answers as if nobody had"
        elif ended != "stopped":
            yield f"{asked}, it ends in {ended} instead of a CancelledError"
        if left := seen.left():
            yield f"{asked}, it leaves behind {', '.join(left)}"


def _outcome(
    operation: Operation, values: Sequence[Any], cancellation: Cancellation, seen: Watched, within_s: float
) -> str:
    """Return how one call ends: stopped, finished, late, or the name of what it raises."""
    answers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def call() -> None:
        try:
            watch(lambda: operation.given(values, Context(), cancellation), seen)
        except CancelledError:
            answers.put("stopped")
        except BaseException as error:
            answers.put(type(error).__name__)
        else:
            answers.put("finished")

    threading.Thread(target=call, daemon=True).start()
    try:
        return answers.get(timeout=within_s)
    except queue.Empty:
        return "late"
