"""The keeper: a small process between a host and its worker, that leaves nothing behind which the worker started.

The kernel gives it every process that is descended from the worker and has lost its parent, in whatever group or
session it is. Once the worker ends, or the host says so or ends itself, the keeper ends all of them and then itself,
with the worker's exit code. Linux only. It runs as a script, with nothing but the standard library:

    python -I -S keeper.py CONTROL COMMAND…

CONTROL is the descriptor of a pipe whose other end the host holds. What runs as another user, or has ended the keeper
first, is beyond it.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

_SET_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
#: How long it goes on ending what keeps on starting something.
_SWEEP_S = 3.0


def main(control: int, command: list[str]) -> int:
    """Run a command until it ends or the host says so, and return its exit code; 128 and the signal for one."""
    kernel = ctypes.CDLL(None)
    kernel.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    worker = os.fork()
    if worker == 0:
        # In a session of its own, so that ending its group does not end the keeper; and never without one.
        os.setsid()
        kernel.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        os.set_inheritable(control, False)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"cannot be started: {error}\n".encode())
        os._exit(127)
    # The streams are the worker's alone: its end is then theirs.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    code = None
    while code is None:
        ready, _, _ = select.select([control, woken], [], [])
        if control in ready:
            break
        os.read(woken, 1 << 12)
        code = _reaped(worker)
    told = _sweep(worker)
    return told if code is None else code


def _reaped(worker: int) -> int | None:
    """Take leave of all that ended, and return the worker's exit code where it is among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == worker:
            ended = os.waitstatus_to_exitcode(status)
            code = ended if ended >= 0 else 128 - ended


def _sweep(worker: int) -> int:
    """End all that descends from this process, until there is nothing left, and return the worker's exit code."""
    code = 128 + signal.SIGKILL
    end = time.monotonic() + _SWEEP_S
    while time.monotonic() < end:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        found = _reaped(worker)
        code = code if found is None else found
        try:
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(0.001)
        except ChildProcessError:
            break
    return code


def _descendants() -> list[int]:
    """Return the processes that descend from this one, as far as they are seen now."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    told = file.read()
            except OSError:
                continue
            # The name before the last bracket may hold anything.
            parent = int(told.rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
