"""The conformance kit: what a plugin declares is tried on examples, and every difference is told (§47.3, §C.4–C.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel

from opfield.core import Envelope, Status, canonical_json, parse_json, seal
from opfield.core.execution import Execution
from opfield.core.operation import read_descriptor
from opfield.errors import IdentityError, OpfieldError, PluginError
from opfield.plugin import Context, JsonCodec, Operation, Plugin, Registry, Terms
from opfield.plugin.printed import Printed
from opfield.plugin.running import run_operation
from opfield.testing.effects import observed_effects
from opfield.testing.reads import recording
from opfield.testing.sensitivity import insensitive
from opfield.testing.stopping import unstopped


def check_plugin(
    plugin: Plugin,
    examples: Mapping[str, Sequence[Sequence[Any]]],
    registry: Registry | None = None,
    *,
    within_s: float = 30.0,
) -> tuple[str, ...]:
    """Return everything that a plugin declares otherwise than it behaves, on examples.

    A test of a plugin is `assert check_plugin(plugin, {"toy.next/v1": [[1], [2]]}) == ()`.

    Args:
        plugin: the plugin.
        examples: for each operation, by id, lists of values for its inputs.
        registry: plugins that it builds on; none where None.
        within_s: how long one run of an operation may take, and how long it may go on once it is asked to stop.

    Returns:
        What was found: why it cannot be registered; else schemas without an example, codecs that accept what is
        malformed, operations without an example, and all that `check_operation` finds.
    """
    try:
        known = (registry or Registry()).register(plugin)
    except PluginError as error:
        return (str(error),)
    found: list[str] = []
    for schema in plugin.schemas:
        found += _accepts_malformed(known, schema.id)
    for operation in plugin.operations:
        id = operation.descriptor.id
        if not examples.get(id):
            found.append(f"operation {id} has no example")
        for values in examples.get(id, ()):
            found += check_operation(known, operation, values, within_s)
    found += (f"there is no operation {id}" for id in sorted(examples.keys() - known.operations.keys()))
    return tuple(found)


def check_operation(
    registry: Registry, operation: Operation, values: Sequence[Any], within_s: float = 30.0
) -> tuple[str, ...]:
    """Return what an operation declares otherwise than it behaves on one example.

    It is run on the example twice, once with its effects and once with the fields that it reads recorded, on examples
    in which one field is changed that it does not declare to read, and asked to stop where it takes a cancellation.

    Args:
        registry: where it and its schemas are registered.
        operation: the operation.
        values: a value for each of its inputs.
        within_s: how long one run may take, and how long it may go on once it is asked to stop.
    """
    id, declared = operation.descriptor.id, operation.descriptor
    try:
        inputs = [
            seal(schema, registry.schemas[schema].codec.encode(schema, value))
            for schema, value in zip(declared.inputs, values, strict=True)
        ]
    except (IdentityError, ValueError) as error:
        return (f"operation {id}: the example is none: {error}",)
    found = [*_uncanonical(operation), *_differences(registry, operation, inputs, within_s)]
    if not found:
        # Not on what cannot be relied on to answer alike, nor to end.
        terms = Terms(deadline_s=within_s)
        first = run_operation(registry, operation, inputs, terms)
        found += insensitive(registry, operation, values, (inputs, first), terms)
        found += _unstopped(registry, operation, inputs, first, within_s)
    return tuple(f"operation {id}: {each}" for each in found)


def _uncanonical(operation: Operation) -> Iterator[str]:
    """Yield why a descriptor is not the one that is read back from its canonical form."""
    declared = operation.descriptor
    try:
        again = read_descriptor(parse_json(canonical_json(declared.as_json())))
    except OpfieldError as error:
        yield f"its descriptor has no canonical form: {error}"
        return
    if again != declared:
        yield "its descriptor is not what is read back from its canonical form"


def _unstopped(
    registry: Registry, operation: Operation, inputs: Sequence[Envelope], first: Execution, within_s: float
) -> Iterator[str]:
    """Yield how an operation that takes a cancellation does not stop, or does not recover from having been stopped."""
    if operation.cancellation is None or operation.execute is not None:
        return

    def values() -> list[Any]:
        return [registry.schemas[each.schema].codec.decode(each.schema, each.payload) for each in inputs]

    found = list(unstopped(operation, values, within_s))
    yield from found
    if not found and operation.descriptor.is_deterministic:
        again = run_operation(registry, operation, inputs, Terms(deadline_s=within_s))
        if _protected(first) != _protected(again):
            yield "gives another answer after it was asked to stop"


def _differences(
    registry: Registry, operation: Operation, inputs: Sequence[Envelope], within_s: float
) -> Iterator[str]:
    declared = operation.descriptor
    before = [canonical_json(each.payload) for each in inputs]
    terms = Terms(deadline_s=within_s)
    first = run_operation(registry, operation, inputs, terms)
    if first.status is Status.INFRASTRUCTURE_FAILURE and first.failure is not None:
        yield f"ends in an infrastructure failure: {first.failure.message}"
        return
    if [canonical_json(each.payload) for each in inputs] != before:
        yield "alters its inputs"
    again = run_operation(registry, operation, inputs, terms)
    if again.failure is not None and again.failure.code == "timeout":
        yield f"ends in time once, and then not again: {again.failure.message}"
        return
    if declared.is_deterministic and _protected(first) != _protected(again):
        yield "claims to be deterministic, and gave two answers to one input"
    if any(each.name == "stdout" for each in first.observations):
        yield "prints to standard output, which is its caller's; tell an observation"
    if first.status is Status.SUCCESS:
        yield from _undeclared_reads(registry, operation, inputs)
    yield from _undeclared_effects(registry, operation, inputs)


def _undeclared_reads(registry: Registry, operation: Operation, inputs: Sequence[Envelope]) -> Iterator[str]:
    """Yield the fields that an operation reads and does not declare to read."""
    declared = operation.descriptor
    if not declared.reads or operation.execute is not None:
        return
    values = [registry.schemas[each.schema].codec.decode(each.schema, each.payload) for each in inputs]
    gathered: list[set[str]] = [set() for _ in values]
    watched = [recording(value, read) for value, read in zip(values, gathered, strict=True)]
    try:
        with Printed():
            operation.given(watched, Context())
    except Exception as error:  # the operation may well fail, but not because it is watched
        yield f"fails where its reads are recorded: {type(error).__name__}: {error}"
        return
    for schema, read in zip(declared.inputs, gathered, strict=True):
        named = declared.fields_read(schema)
        undeclared = sorted(read - set(named)) if named is not None else []
        if undeclared:
            yield f"reads {', '.join(f'{schema}#{name}' for name in undeclared)} without declaring it"


def _undeclared_effects(registry: Registry, operation: Operation, inputs: Sequence[Envelope]) -> Iterator[str]:
    """Yield the effects that an operation has and does not declare; what lives elsewhere cannot be watched."""
    if operation.execute is not None:
        return
    values = [registry.schemas[each.schema].codec.decode(each.schema, each.payload) for each in inputs]

    def call() -> None:
        with Printed(), suppress(Exception):  # what it prints, and what it ends in, was told before
            operation.given(values, Context())

    undeclared = sorted(observed_effects(call) - {*operation.descriptor.effects})
    if undeclared:
        yield f"has effects that it does not declare: {', '.join(undeclared)}"
    for envelope, value in zip(inputs, values, strict=True):
        try:
            is_same = registry.schemas[envelope.schema].codec.encode(envelope.schema, value) == envelope.payload
        except Exception:  # what it made of the value may be none of the schema's
            is_same = False
        if not is_same:
            yield f"changes the value of {envelope.schema} that it is given; others may have the same one"


def _accepts_malformed(registry: Registry, id: str) -> Iterator[str]:
    """Yield what a codec reads although it is no payload of the schema; any JSON value is one of a `JsonCodec`'s."""
    schema = registry.schemas[id]
    if not schema.examples:
        yield f"schema {id} has no example"
        return
    if isinstance(schema.codec, JsonCodec):
        return
    payload = schema.codec.encode(id, schema.examples[0])
    malformed: list[tuple[str, Any]] = [("a list of it", [payload]), ("an object of it", {"no such field": payload})]
    if isinstance(payload, dict) and (is_dataclass(schema.examples[0]) or isinstance(schema.examples[0], BaseModel)):
        malformed += [("nothing", None), ("an unknown field", {**payload, "no such field": 1})]
    for what, spoiled in malformed:
        try:
            schema.codec.decode(id, spoiled)
        except IdentityError:
            continue
        except Exception as error:  # what a codec raises otherwise would be taken for the operation's own fault
            yield f"schema {id}: its codec raises {type(error).__name__} for {what}, instead of an IdentityError"
        else:
            yield f"schema {id}: its codec accepts {what}"


def _protected(execution: Execution) -> tuple[Any, ...]:
    """Return what a deterministic operation answers alike: not how long it took, nor what it told on the way."""
    return (execution.status, execution.outputs, execution.failure)
