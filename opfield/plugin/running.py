"""Running one operation: every input decoded, every output checked, every way to go wrong an attributed outcome."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from opfield.core import Envelope, Failure, Status, check_envelope, scrub, seal
from opfield.core.execution import Execution, Observation
from opfield.core.operation import Port
from opfield.errors import OpfieldError
from opfield.experiment import DomainFailure
from opfield.plan.term import port_text
from opfield.plugin.operation import Context, Operation
from opfield.plugin.registry import Registry


def run_operation(registry: Registry, operation: Operation, inputs: Sequence[Envelope]) -> Execution:
    """Return what an operation made of checked envelopes; it never raises for what the operation does.

    A `DomainFailure` is a domain failure. Whatever else the function raises, and every output that is not what the
    descriptor declares, is an infrastructure failure that names plugin and operation.

    Args:
        registry: where the operation and its schemas are registered.
        operation: what runs.
        inputs: an envelope for each wire of its input port; their digests were checked.
    """
    declared = operation.descriptor
    context = Context()
    started = time.perf_counter()

    def ended(status: Status, code: str, message: str) -> Execution:
        who = f"operation {declared.id} of plugin {declared.plugin}"
        # What comes from elsewhere may say who already.
        told = message if message.startswith(who) else f"{who}: {message}"
        failure = Failure(code, scrub(told))
        return Execution(status, (), _told(context, declared.id), failure, time.perf_counter() - started)

    if tuple(each.schema for each in inputs) != declared.inputs:
        given = ", ".join(each.schema for each in inputs)
        return ended(Status.INFRASTRUCTURE_FAILURE, "invalid_input", f"takes {declared.inputs}, was given ({given})")
    try:
        values = [registry.schemas[each.schema].codec.decode(each.schema, each.payload) for each in inputs]
    except Exception as error:  # a codec of a plugin may raise anything
        return ended(Status.INFRASTRUCTURE_FAILURE, "invalid_input", _said(error))
    if operation.execute is not None:
        try:
            done = _checked(registry, operation.execute(inputs), declared.outputs)
        except (Exception, SystemExit) as error:  # whatever a plugin raises, or gives, is data
            return ended(Status.INFRASTRUCTURE_FAILURE, "exception", _said(error))
        if done.failure is None:
            return replace(done, observations=_named(done.observations, declared.id))
        context.observations.extend(done.observations)
        return ended(done.status, done.failure.code, done.failure.message)
    given_context = {} if operation.context is None else {operation.context: context}
    try:
        answer = operation.function(*values, **given_context)
    except DomainFailure as error:
        return ended(Status.DOMAIN_FAILURE, error.code, str(error))
    except (Exception, SystemExit) as error:  # whatever a plugin raises is data
        return ended(Status.INFRASTRUCTURE_FAILURE, "exception", _said(error))
    try:
        outputs = tuple(
            seal(schema, registry.schemas[schema].codec.encode(schema, value))
            for schema, value in zip(declared.outputs, _spread(answer, len(declared.outputs)), strict=True)
        )
    except Exception as error:  # as long as a lie about an output is an outcome, its kind makes no difference
        return ended(Status.INFRASTRUCTURE_FAILURE, "invalid_output", _said(error))
    return Execution(Status.SUCCESS, outputs, _told(context, declared.id), None, time.perf_counter() - started)


def _checked(registry: Registry, done: Execution, port: Port) -> Execution:
    """Return an outcome from elsewhere, as a failure where its outputs are not what was declared."""
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


def _said(error: BaseException) -> str:
    """Return an error for people; one of opfield's own says enough by itself."""
    return str(error) if isinstance(error, OpfieldError) else f"{type(error).__name__}: {error}"


def _spread(answer: Any, count: int) -> tuple[Any, ...]:
    """Return the answer as a value for each output."""
    if count == 1:
        return (answer,)
    values = () if answer is None else answer
    if not isinstance(values, tuple) or len(values) != count:
        gave = f"{len(values)} in a tuple" if isinstance(values, tuple) else type(answer).__name__
        raise OpfieldError(f"declares {count} outputs, its function returned {gave}")
    return values


def _told(context: Context, operation: str) -> tuple[Observation, ...]:
    return _named(context.observations, operation)


def _named(observations: Iterable[Observation], operation: str) -> tuple[Observation, ...]:
    return tuple(replace(each, operation=operation) for each in observations)
