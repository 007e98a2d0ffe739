"""Running one operation: every input decoded, every output checked, every way to go wrong an attributed outcome."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from opfield.core import Envelope, Failure, Status, canonical_json, check_envelope, scrub, seal
from opfield.core.cancellation import Cancellation, CancelledError
from opfield.core.execution import Execution, Observation
from opfield.core.operation import Port
from opfield.errors import DeclarationError, OpfieldError
from opfield.experiment import DomainFailure, InfrastructureFailure
from opfield.plan.term import port_text
from opfield.plugin.operation import Context, Operation
from opfield.plugin.printed import Printed
from opfield.plugin.registry import Registry

#: Longer than this, which are four months, nobody waits.
_LONGEST_S: Final = 1e7


@dataclass(frozen=True, slots=True)
class Terms:
    """What running is subject to.

    Attributes:
        cancellation: who may ask it to stop; None where nobody may.
        deadline_s: seconds that each operation may take; None where it may take any time. No thread can be stopped
            from outside: an operation that is late is asked to stop, and left to itself where it does not.
    """

    cancellation: Cancellation | None = None
    deadline_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a deadline that is none.

        Raises:
            DeclarationError: naming it.
        """
        seconds = self.deadline_s
        if seconds is None:
            return
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _LONGEST_S:
            raise DeclarationError(
                f"deadline_s {seconds!r} is no time; give seconds above 0, at most {_LONGEST_S:g}, or None for any time"
            )


#: Nobody stops it, and it may take any time.
FREE: Final = Terms()


def run_operation(
    registry: Registry, operation: Operation, inputs: Sequence[Envelope], terms: Terms = FREE
) -> Execution:
    """Return what an operation made of checked envelopes; it never raises for what the operation does.

    A `DomainFailure` is a domain failure, an `InfrastructureFailure` one of its code, a `CancelledError` of an
    operation that was asked to stop is a cancellation. Whatever else the function raises, every output that is not
    what the descriptor declares, and every answer that does not come in time, is an infrastructure failure that names
    plugin and operation. What it printed is observed.

    Args:
        registry: where the operation and its schemas are registered.
        operation: what runs.
        inputs: an envelope for each wire of its input port; their digests were checked.
        terms: what running is subject to.
    """
    stop = terms.cancellation
    attempt = _Attempt(registry, operation, stop or Cancellation())
    if stop is not None and stop.is_cancelled:
        return attempt.ended(Status.CANCELLED, "cancelled", f"it was not begun: {stop.reason or 'asked to stop'}")
    if terms.deadline_s is None:
        return attempt.run(inputs)
    attempt.cancellation = attempt.cancellation.part()
    return _within(terms.deadline_s, attempt, inputs)


class _Attempt:
    """One run of an operation, with what it told and printed so far."""

    __slots__ = ("cancellation", "context", "elsewhere", "operation", "printed", "registry", "started")

    def __init__(self, registry: Registry, operation: Operation, cancellation: Cancellation) -> None:
        self.registry = registry
        self.operation = operation
        self.cancellation = cancellation
        self.context = Context()
        self.elsewhere: tuple[Observation, ...] = ()
        self.printed = Printed()
        self.started = time.perf_counter()

    def run(self, inputs: Sequence[Envelope]) -> Execution:
        """Return what it came to."""
        registry, operation, declared = self.registry, self.operation, self.operation.descriptor
        if tuple(each.schema for each in inputs) != declared.inputs:
            given = ", ".join(each.schema for each in inputs)
            return self.broke("invalid_input", f"takes {declared.inputs}, was given ({given})")
        try:
            values = [registry.schemas[each.schema].codec.decode(each.schema, each.payload) for each in inputs]
        except Exception as error:  # a codec of a plugin may raise anything
            return self.broke("invalid_input", _said(error))
        if operation.execute is not None:
            return self.asked_elsewhere(operation.execute, inputs)
        try:
            with self.printed:
                answer = operation.given(values, self.context, self.cancellation)
        except DomainFailure as error:
            return self.ended(Status.DOMAIN_FAILURE, str(error.code), _words(error))
        except InfrastructureFailure as error:
            is_retryable = error.is_retryable is True
            return self.ended(Status.INFRASTRUCTURE_FAILURE, str(error.code), _words(error), is_retryable=is_retryable)
        except CancelledError as error:
            return self.stopped(error)
        except (Exception, SystemExit) as error:  # whatever a plugin raises is data
            return self.broke("exception", _said(error))
        try:
            outputs = tuple(
                seal(schema, registry.schemas[schema].codec.encode(schema, value))
                for schema, value in zip(declared.outputs, _spread(answer, len(declared.outputs)), strict=True)
            )
        except Exception as error:  # as long as a lie about an output is an outcome, its kind makes no difference
            return self.broke("invalid_output", _said(error))
        return Execution(Status.SUCCESS, outputs, self.told(), None, self.seconds())

    def asked_elsewhere(self, execute: Any, inputs: Sequence[Envelope]) -> Execution:
        """Return what an operation that lives elsewhere came to, checked like one of here."""
        try:
            with self.printed:
                done = _checked(self.registry, execute(inputs, self.cancellation), self.operation.descriptor.outputs)
        except CancelledError as error:
            return self.stopped(error)
        except (Exception, SystemExit) as error:  # whatever a plugin raises, or gives, is data
            return self.broke("exception", _said(error))
        self.elsewhere = done.observations
        if done.failure is None:
            return replace(done, observations=self.told())
        return self.ended(done.status, done.failure.code, done.failure.message, is_retryable=done.failure.is_retryable)

    def stopped(self, error: CancelledError) -> Execution:
        """Return the cancellation of what says that it stopped; a failure where nobody asked it to."""
        if self.cancellation.is_cancelled:
            return self.ended(Status.CANCELLED, "cancelled", _words(error))
        return self.broke("exception", "it says that it was cancelled, and nobody asked it to stop")

    def broke(self, code: str, message: str) -> Execution:
        """Return an infrastructure failure."""
        return self.ended(Status.INFRASTRUCTURE_FAILURE, code, message)

    def ended(self, status: Status, code: str, message: str, *, is_retryable: bool = False) -> Execution:
        """Return a failure that names plugin and operation."""
        declared = self.operation.descriptor
        who = f"operation {declared.id} of plugin {declared.plugin}"
        # What comes from elsewhere may say who already.
        told = message if message.startswith(who) else f"{who}: {message}"
        return Execution(status, (), self.told(), Failure(code, scrub(told), is_retryable), self.seconds())

    def told(self) -> tuple[Observation, ...]:
        """Return what it observed so far, and what it printed."""
        id = self.operation.descriptor.id
        observed = tuple(replace(each, operation=id) for each in (*self.context.observations, *self.elsewhere))
        if not self.printed.size:
            return observed
        return (*observed, Observation("stdout", scrub(self.printed.text()), id))

    def seconds(self) -> float:
        """Return how long it took so far."""
        return time.perf_counter() - self.started


def _within(seconds: float, attempt: _Attempt, inputs: Sequence[Envelope]) -> Execution:
    """Return what an attempt comes to in a thread of its own, or that it did not come to anything in time."""
    answers: queue.SimpleQueue[Execution] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(attempt.run(inputs))
        except BaseException as error:  # nobody else hears of what ends a thread
            answers.put(attempt.broke("exception", _said(error)))

    # A daemon, so that what never ends does not keep the interpreter from ending.
    threading.Thread(target=run, name=f"opfield {attempt.operation.descriptor.id}", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        attempt.cancellation.cancel(f"it took longer than {seconds:g} s")
        message = (
            f"it took longer than {seconds:g} s and was left to itself, since no thread can be stopped from outside"
        )
        return attempt.ended(Status.INFRASTRUCTURE_FAILURE, "timeout", message, is_retryable=True)


def _checked(registry: Registry, done: Execution, port: Port) -> Execution:
    """Return an outcome from elsewhere, as a failure where its outputs are not what was declared.

    Raises:
        OpfieldError: where it is no outcome, or tells what is no observation.
    """
    if not isinstance(done, Execution) or not isinstance(done.failure, Failure | None):
        raise OpfieldError("it gave what is no outcome")
    for told in done.observations:
        if not isinstance(told, Observation) or not isinstance(told.name, str):
            raise OpfieldError("it told what is no observation")
        canonical_json(told.value)
    if done.status is not Status.SUCCESS:
        return done if done.failure is not None else replace(done, failure=Failure("unknown", "no failure was told"))
    given = tuple(each.schema for each in done.outputs)
    problem = f"declares {port_text(port)}, gave {port_text(given)}" if given != port else None
    try:
        for each in done.outputs if problem is None else ():
            check_envelope(each)
            registry.schemas[each.schema].codec.decode(each.schema, each.payload)
    except Exception as error:  # a codec of a plugin may raise anything
        problem = _said(error)
    if problem is None:
        return done
    return Execution(
        Status.INFRASTRUCTURE_FAILURE, (), done.observations, Failure("invalid_output", problem), done.seconds
    )


def located(observations: Iterable[Observation], branch: tuple[int, ...]) -> tuple[Observation, ...]:
    """Return observations with where in the plan they were made."""
    return tuple(replace(each, branch=branch) for each in observations)


def _said(error: BaseException) -> str:
    """Return an error for people; one of opfield's own says enough by itself."""
    words = _words(error)
    return words if isinstance(error, OpfieldError) else f"{type(error).__name__}: {words}"


def _words(error: BaseException) -> str:
    """Return an error's own words; a plugin's error may not even have any."""
    try:
        return str(error)
    except Exception as worse:
        return f"its message cannot be read, {type(worse).__name__}"


def _spread(answer: Any, count: int) -> tuple[Any, ...]:
    """Return the answer as a value for each output."""
    if count == 1:
        return (answer,)
    values = () if answer is None else answer
    if not isinstance(values, tuple) or len(values) != count:
        gave = f"{len(values)} in a tuple" if isinstance(values, tuple) else type(answer).__name__
        raise OpfieldError(f"declares {count} outputs, its function returned {gave}")
    return values
