"""Which effects a call has, as far as they can be seen from inside the process (§C.6).

Clocks and the shared random generator are seen as calls of built-in functions, files, sockets and programs as audit
events of the interpreter. Native code can do all of this unseen: this is a test's net, not a prison.
"""

from __future__ import annotations

import datetime
import os
import random
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from opfield.core.operation import Effect

_CLOCKS: Final = frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "gmtime"}
)
_DATES: Final = (datetime.datetime, datetime.date)
_AUDITED: Final = {
    "socket.connect": Effect.NETWORK,
    "socket.getaddrinfo": Effect.NETWORK,
    "socket.sendto": Effect.NETWORK,
    "socket.bind": Effect.NETWORK,
    "subprocess.Popen": Effect.STATE,
    "os.system": Effect.STATE,
    "os.exec": Effect.STATE,
    "os.remove": Effect.ARTIFACT_WRITE,
    "os.rename": Effect.ARTIFACT_WRITE,
    "os.mkdir": Effect.ARTIFACT_WRITE,
    "sqlite3.connect": Effect.STATE,
}
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Loading a module that a call is the first to need is no effect of it.
_CODE: Final = (".py", ".pyc", ".so", ".pyi")

_watching = threading.local()
_lock = threading.Lock()
_is_hooked = False


def observed_effects(call: Callable[[], object]) -> frozenset[Effect]:
    """Return the effects that a call has in this thread, whatever it ends in.

    Raises:
        Exception: what the call raises.
    """
    _hook()
    seen: set[Effect] = set()
    previous, _watching.seen = getattr(_watching, "seen", None), seen
    profile = sys.getprofile()

    def on_event(_frame: object, event: str, called: Any) -> None:
        if event == "c_call":
            effect = _of_builtin(called)
            if effect is not None:
                seen.add(effect)

    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(profile)
        _watching.seen = previous
    return frozenset(seen)


def _of_builtin(called: Any) -> Effect | None:
    name, owner = getattr(called, "__name__", ""), getattr(called, "__self__", None)
    if name in _CLOCKS and getattr(called, "__module__", None) == "time":
        return Effect.CLOCK
    if name in ("now", "utcnow", "today") and isinstance(owner, type) and issubclass(owner, _DATES):
        return Effect.CLOCK
    if name == "urandom" or owner is random._inst:  # the generator that modules share
        return Effect.RANDOM
    return None


def _hook() -> None:
    """Add the audit hook, once: the interpreter keeps it for good."""
    global _is_hooked
    with _lock:
        if not _is_hooked:
            sys.addaudithook(_on_audit)
            _is_hooked = True


def _on_audit(event: str, arguments: tuple[Any, ...]) -> None:
    seen = getattr(_watching, "seen", None)
    if seen is None:
        return
    if event == "open":
        path, _mode, flags = arguments
        if isinstance(path, str) and not path.endswith(_CODE):
            is_write = isinstance(flags, int) and flags & _WRITES
            seen.add(Effect.ARTIFACT_WRITE if is_write else Effect.ARTIFACT_READ)
    elif event in _AUDITED:
        seen.add(_AUDITED[event])
