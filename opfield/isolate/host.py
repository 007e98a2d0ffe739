"""The host: operations of a worker process as if they were here, and every misbehaviour an attributed outcome (§48.3).

A worker that crashes, hangs, floods, talks out of turn or says what is not so is ended with all that it started, and
the call that met it is an infrastructure failure that names the plugin. The next call starts a new worker.

On Linux a keeper (`opfield.isolate.keeper`) sees to it that nothing of a worker is left, whatever session it moved to.
Elsewhere the worker's process group is ended, and what left the group lives on.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self
from weakref import WeakSet

from opfield.core import Envelope, Failure, Status, canonical_json, parse_json
from opfield.core.cancellation import Cancellation, CancelledError
from opfield.core.execution import Execution, failed
from opfield.core.operation import OperationDescriptor, read_descriptor
from opfield.errors import OpfieldError, ProtocolError
from opfield.isolate.protocol import HELLO, execute_request, read_done, read_ready
from opfield.plugin import Operation

_CHUNK = 1 << 16
_KEPT_WORDS = 2_000
#: How often it is looked whether a call was asked to stop, in seconds.
_LOOK_S = 0.05
#: How long a keeper may take to end a worker, before it is ended itself.
_GRACE_S = 5.0
_KEEPER: Final = (sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")))


@dataclass(frozen=True, slots=True)
class HostLimits:
    """What a worker is allowed.

    Attributes:
        call_s: seconds for a call, from the request to the whole answer.
        start_s: seconds for the answer to the greeting, the start of the process included.
        answer_bytes: length of an answer.
    """

    call_s: float = 60.0
    start_s: float = 20.0
    answer_bytes: int = 16 << 20


class LostWorkerError(ProtocolError):
    """A worker crashed or did not answer in time; another attempt may do better."""


class Host:
    """One worker process, started when it is first asked; a context manager that ends it.

    Args:
        command: program and arguments of the worker.
        plugin: identity of the plugin that it serves.
        limits: what it is allowed.
    """

    def __init__(self, command: Sequence[str], plugin: str, limits: HostLimits | None = None) -> None:
        self._command = tuple(command)
        self._plugin = plugin
        self._limits = limits or HostLimits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._words: deque[bytes] = deque(maxlen=64)
        self._known: dict[str, OperationDescriptor] = {}
        self._control: int | None = None
        _hosts.add(self)

    def __enter__(self) -> Self:
        """Return the host."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End the worker."""
        self.close()

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations that the worker serves, by id; add them to the plugin's own.

        Raises:
            ProtocolError: where the worker cannot be started, or does not greet as it should.
            DeclarationError: where a descriptor is none.
        """
        with self._lock:
            try:
                self._started()
            except OpfieldError:
                self._end()
                raise
            return tuple(self._operation(each) for _, each in sorted(self._known.items()))

    def call(self, operation: str, inputs: Sequence[Envelope], cancellation: Cancellation | None = None) -> Execution:
        """Return what an operation of the worker made of envelopes; it never raises for what the worker does.

        Where it is asked to stop, the worker is ended with all its children, whatever it was doing.
        """
        request = execute_request(operation, inputs, self._limits.call_s)
        with self._lock:
            try:
                if cancellation is not None:
                    # Others may have had the worker first.
                    cancellation.check()
                self._started()
                answer = self._asked(request, self._limits.call_s, cancellation)
                return read_done(answer, request["id"])
            except CancelledError as error:
                self._end()
                return failed(Status.CANCELLED, "cancelled", f"its worker was ended: {error}")
            except OpfieldError as error:
                said = self._end()
                told = f"its worker {error}" + (f"; it said last: {said}" if said else "")
                failure = Failure("worker", told, is_retryable=isinstance(error, LostWorkerError))
                return Execution(Status.INFRASTRUCTURE_FAILURE, failure=failure)

    def close(self) -> None:
        """End the worker with all its children; a later call starts another."""
        with self._lock:
            self._end()

    def _operation(self, descriptor: OperationDescriptor) -> Operation:
        def unreachable(*_: Any) -> NoReturn:
            raise ProtocolError(f"{descriptor.id} lives in another process; run it by a plan")

        return Operation(descriptor, unreachable, None, lambda inputs, stop: self.call(descriptor.id, inputs, stop))

    def _started(self) -> None:
        """Start the worker where it does not run, and hold it to what it declared before."""
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        try:
            self._process = self._opened()
        except OSError as error:
            raise ProtocolError(f"cannot be started: {error}") from None
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        told = read_ready(self._asked(HELLO, self._limits.start_s))
        found = {each.id: each for each in map(read_descriptor, told)}
        foreign = sorted({each.plugin for each in found.values()} - {self._plugin})
        if foreign or len(found) != len(told):
            raise ProtocolError(f"serves operations of {', '.join(foreign) or 'one id twice'}, not of {self._plugin}")
        if self._known and found != self._known:
            raise ProtocolError("declares other operations than when it was registered")
        self._known = found

    def _opened(self) -> subprocess.Popen[bytes]:
        """Return a new worker, kept where there can be a keeper.

        Raises:
            OSError: where there is no such program.
        """
        if shutil.which(self._command[0]) is None:
            raise FileNotFoundError(f"there is no program {self._command[0]}")
        pipe = subprocess.PIPE
        if sys.platform != "linux":
            return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        theirs, self._control = os.pipe()
        try:
            command = (*_KEEPER, str(theirs), *self._command)
            return subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, pass_fds=(theirs,)
            )
        finally:
            os.close(theirs)

    def _asked(self, request: dict[str, Any], seconds: float, cancellation: Cancellation | None = None) -> Any:
        """Return the answer to a request, as JSON."""
        assert self._process is not None
        assert self._process.stdin is not None
        deadline = time.monotonic() + seconds
        if self._buffer or self._has_talked():
            raise ProtocolError("talked out of turn")
        try:
            self._write(canonical_json(request) + b"\n", deadline, seconds, cancellation)
            line = self._line(deadline, seconds, cancellation)
        except BrokenPipeError:
            raise LostWorkerError(self._ended()) from None
        try:
            return parse_json(line)
        except OpfieldError as error:
            raise ProtocolError(f"answered what is no JSON: {error}") from None

    def _has_talked(self) -> bool:
        """Return whether there is something to read that nobody asked for; the end of a stream is nothing."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            return bool(selector.select(0) and os.read(pipe, _CHUNK))

    def _write(self, content: bytes, deadline: float, seconds: float, cancellation: Cancellation | None) -> None:
        """Write a request; a worker that does not read it has no more time than one that does not answer."""
        assert self._process is not None
        assert self._process.stdin is not None
        pipe = self._process.stdin.fileno()
        os.set_blocking(pipe, False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_WRITE)
            while content:
                if not _is_ready(selector, deadline, cancellation):
                    raise LostWorkerError(f"read nothing more within {seconds:g} s")
                content = content[os.write(pipe, content[:_CHUNK]) :]

    def _line(self, deadline: float, seconds: float, cancellation: Cancellation | None) -> bytes:
        """Return one line of the worker's output."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        parts: list[bytes] = []
        size = 0
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                if not _is_ready(selector, deadline, cancellation):
                    raise LostWorkerError(f"gave no whole answer within {seconds:g} s")
                chunk = os.read(pipe, _CHUNK)
                if not chunk:
                    raise LostWorkerError(f"{self._ended()} before it answered")
                before, end, after = chunk.partition(b"\n")
                parts.append(before)
                size += len(before)
                if size > self._limits.answer_bytes:
                    raise ProtocolError(f"gave an answer of more than {self._limits.answer_bytes:,} bytes")
                if end:
                    self._buffer = after
                    return b"".join(parts)

    def _ended(self) -> str:
        """Say how a worker ended that has closed its streams; it may well go on without them."""
        assert self._process is not None
        try:
            return f"ended with code {self._process.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            return "closed its streams"

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Keep the last that a worker says to people, so that it never waits for a reader."""
        assert process.stderr is not None
        with suppress(OSError, ValueError):
            while chunk := os.read(process.stderr.fileno(), _CHUNK):
                self._words.append(chunk[-_KEPT_WORDS:])

    def _end(self) -> str:
        """End the worker with all its children, and return the last that it said to people."""
        process, self._process, self._buffer = self._process, None, b""
        said = b"".join(self._words)[-_KEPT_WORDS:].decode(errors="replace").strip()
        self._words.clear()
        if process is None:
            return ""
        is_left = self._let_go()
        try:
            process.wait(_GRACE_S if is_left else 0)
        except subprocess.TimeoutExpired:
            is_left = False
        if not is_left:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        _close(process)
        return said.splitlines()[-1] if said else ""

    def _let_go(self) -> bool:
        """Leave it to the keeper to end the worker, and return whether there is one."""
        control, self._control = self._control, None
        if control is None:
            return False
        with suppress(OSError):
            os.write(control, b".")  # a forked child of this process may hold the pipe open
        os.close(control)
        return True

    def forget(self) -> None:
        """Have no worker, in a process that was forked from the one which started it: there it is still in use."""
        process, self._process, self._buffer = self._process, None, b""
        control, self._control = self._control, None
        # Whoever held it did so in the other process.
        self._lock = threading.Lock()
        if control is not None:
            os.close(control)
        if process is not None:
            _close(process)
            process.returncode = 0  # not this process's to wait for


_hosts: WeakSet[Host] = WeakSet()


def _forget_all() -> None:
    for each in list(_hosts):
        each.forget()


os.register_at_fork(after_in_child=_forget_all)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close a process's streams here."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _is_ready(selector: selectors.BaseSelector, deadline: float, cancellation: Cancellation | None) -> bool:
    """Wait until a pipe can be used, and return whether it can before the deadline.

    Raises:
        CancelledError: where the call was asked to stop.
    """
    while True:
        left = max(0.0, deadline - time.monotonic())
        if selector.select(left if cancellation is None else min(left, _LOOK_S)):
            return True
        if cancellation is not None:
            cancellation.check()
        if left <= 0:
            return False
