"""Which effects a call has, as far as they can be seen from inside the process (§C.6).

Clocks and random generators are seen as calls of built-in functions, files, sockets and programs as audit events of
the interpreter, in the thread of the call and in those that start meanwhile. Native code can do all of this unseen, and
so can a thread that waited before: this is a test's net, not a prison.
"""

from __future__ import annotations

import datetime
import gc
import os
import random
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

from opfield.core.operation import Effect

_CLOCKS: Final = frozenset(
    {
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "clock_gettime_ns"),
        *("gmtime", "localtime", "ctime", "asctime", "strftime"),
    }
)
#: Modules that look at the clock to wait no longer than they are told.
_WAITING: Final = ("threading", "queue", "concurrent", "selectors", "subprocess", "asyncio", "multiprocessing")
_DATES: Final = (datetime.datetime, datetime.date)
_AUDITED: Final = {
    "socket.connect": Effect.NETWORK,
    "socket.getaddrinfo": Effect.NETWORK,
    "socket.gethostbyname": Effect.NETWORK,
    "socket.gethostbyaddr": Effect.NETWORK,
    "socket.getnameinfo": Effect.NETWORK,
    "socket.sendto": Effect.NETWORK,
    "socket.sendmsg": Effect.NETWORK,
    "socket.bind": Effect.NETWORK,
    "subprocess.Popen": Effect.STATE,
    "os.system": Effect.STATE,
    "os.exec": Effect.STATE,
    "os.fork": Effect.STATE,
    "os.forkpty": Effect.STATE,
    "os.posix_spawn": Effect.STATE,
    "os.kill": Effect.STATE,
    "os.chdir": Effect.STATE,
    "os.putenv": Effect.STATE,
    "os.unsetenv": Effect.STATE,
    "os.listdir": Effect.ARTIFACT_READ,
    "os.scandir": Effect.ARTIFACT_READ,
    "os.remove": Effect.ARTIFACT_WRITE,
    "os.rename": Effect.ARTIFACT_WRITE,
    "os.mkdir": Effect.ARTIFACT_WRITE,
    "os.rmdir": Effect.ARTIFACT_WRITE,
    "os.truncate": Effect.ARTIFACT_WRITE,
    "os.chmod": Effect.ARTIFACT_WRITE,
    "os.chown": Effect.ARTIFACT_WRITE,
    "os.utime": Effect.ARTIFACT_WRITE,
    "os.link": Effect.ARTIFACT_WRITE,
    "os.symlink": Effect.ARTIFACT_WRITE,
    "sqlite3.connect": Effect.STATE,
}
#: Which argument of an event is the path that something is written to.
_WRITTEN: Final = {"os.rename": 1, "os.mkdir": 0}
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Loading a module that a call is the first to need is no effect of it.
_CODE: Final = (".py", ".pyc", ".so", ".pyi")

#: What a file is known by before and after: when it was written, and how long it is; None where there is none.
_State = tuple[int, int] | None


@dataclass(slots=True)
class Watched:
    """What a call did, as far as it was seen.

    Attributes:
        effects: the effects that it had.
        written: files and folders that it wrote or renamed something to, with what was there before.
    """

    effects: set[Effect] = field(default_factory=set)
    written: dict[str, _State] = field(default_factory=dict)

    def left(self) -> tuple[str, ...]:
        """Return the files and folders that are there now, and were not, or were others, before the call."""
        return tuple(sorted(path for path, before in self.written.items() if _state(path) not in (None, before)))

    def note(self, path: Any) -> None:
        """Remember what is at a path that is about to be written."""
        if isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))
            self.written.setdefault(name, _state(name))


_watching = threading.local()
_lock = threading.Lock()
_is_hooked = False


def observed_effects(call: Callable[[], object]) -> frozenset[Effect]:
    """Return the effects that a call has, whatever it ends in.

    Raises:
        Exception: what the call raises.
    """
    watched = Watched()
    watch(call, watched)
    return frozenset(watched.effects)


def watch(call: Callable[[], object], seen: Watched) -> None:
    """Call, and note what the call does in this thread and in those that start meanwhile, whatever it ends in.

    Raises:
        Exception: what the call raises.
    """
    _hook()
    previous, _watching.seen = getattr(_watching, "seen", None), seen
    profile, theirs = sys.getprofile(), threading.getprofile()
    drawn = _numpy_state()

    def on_event(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            effect = _of_builtin(frame, called)
            if effect is not None:
                seen.effects.add(effect)

    def on_thread(frame: FrameType, event: str, called: Any) -> None:
        _watching.seen = seen
        sys.setprofile(on_event)
        on_event(frame, event, called)

    # What is collected meanwhile, and who listens to that, is not the call's.
    is_collecting = gc.isenabled()
    gc.disable()
    # Installed last: what is called to install the one would be seen by the other.
    threading.setprofile(on_thread)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(profile)
        threading.setprofile(theirs)
        if is_collecting:
            gc.enable()
        _watching.seen = previous
    if _numpy_state() != drawn:
        seen.effects.add(Effect.RANDOM)


def _numpy_state() -> str:
    """Return where NumPy's shared generator stands, whose calls cannot be seen; nothing where nobody has NumPy."""
    numpy = sys.modules.get("numpy.random")
    return "" if numpy is None else str(numpy.get_state(legacy=False))


def _of_builtin(frame: FrameType, called: Any) -> Effect | None:
    name, owner = getattr(called, "__name__", ""), getattr(called, "__self__", None)
    module = getattr(called, "__module__", None)
    if module == "time" and name in _CLOCKS:
        is_waiting = name == "monotonic" and str(frame.f_globals.get("__name__")).partition(".")[0] in _WAITING
        return None if is_waiting else Effect.CLOCK
    if module == "posix" and name == "times":
        return Effect.CLOCK
    if frame.f_code is random.Random.seed.__code__ and name == "seed" and frame.f_locals["a"] is None:
        return Effect.RANDOM  # a new generator that nobody seeded
    if name in ("now", "utcnow", "today") and isinstance(owner, type) and issubclass(owner, _DATES):
        return Effect.CLOCK
    if name in ("urandom", "getrandom") or owner is random._inst:  # the generator that modules share
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
    seen: Watched | None = getattr(_watching, "seen", None)
    if seen is None:
        return
    # What is looked up below is no effect of the call.
    _watching.seen = None
    try:
        if event == "open":
            _on_open(seen, *arguments)
        elif event in _AUDITED and not _is_importing():
            seen.effects.add(_AUDITED[event])
            if event in _WRITTEN:
                seen.note(arguments[_WRITTEN[event]])
    finally:
        _watching.seen = seen


def _is_importing() -> bool:
    """Return whether it is the search for a module that looks at the file system."""
    return sys._getframe(2).f_code.co_filename.startswith("<frozen importlib")


def _on_open(seen: Watched, path: Any, _mode: Any, flags: Any) -> None:
    if not isinstance(path, str) or path.endswith(_CODE):
        return
    if isinstance(flags, int) and flags & _WRITES:
        seen.effects.add(Effect.ARTIFACT_WRITE)
        seen.note(path)
    else:
        seen.effects.add(Effect.ARTIFACT_READ)


def _state(path: str) -> _State:
    try:
        told = os.stat(path)
    except OSError:
        return None
    return told.st_mtime_ns, told.st_size
