"""The conformance kit: what a plugin declares is tried on examples, and every difference is told (§47.3, §C.4–C.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel

from opfield.core import Envelope, Status, canonical_json, seal
from opfield.core.execution import Execution
from opfield.errors import IdentityError, PluginError
from opfield.plugin import Context, JsonCodec, Operation, Plugin, Registry
from opfield.plugin.running import run_operation
from opfield.testing.effects import observed_effects
from opfield.testing.reads import recording


def check_plugin(
    plugin: Plugin, examples: Mapping[str, Sequence[Sequence[Any]]], registry: Registry | None = None
) -> tuple[str, ...]:
    """Return everything that a plugin declares otherwise than it behaves, on examples.

    A test of a plugin is `assert check_plugin(plugin, {"toy.next/v1": [[1], [2]]}) == ()`.

    Args:
        plugin: the plugin.
        examples: for each operation, by id, lists of values for its inputs.
        registry: plugins that it builds on; none where None.

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
            found += check_operation(known, operation, values)
    found += (f"there is no operation {id}" for id in sorted(examples.keys() - known.operations.keys()))
    return tuple(found)


def check_operation(registry: Registry, operation: Operation, values: Sequence[Any]) -> tuple[str, ...]:
    """Return what an operation declares otherwise than it behaves on one example.

    It is run on the example twice, and once with its effects and the fields that it reads recorded.

    Args:
        registry: where it and its schemas are registered.
        operation: the operation.
        values: a value for each of its inputs.
    """
    id, declared = operation.descriptor.id, operation.descriptor
    try:
        inputs = [
            seal(schema, registry.schemas[schema].codec.encode(schema, value))
            for schema, value in zip(declared.inputs, values, strict=True)
        ]
    except (IdentityError, ValueError) as error:
        return (f"operation {id}: the example is none: {error}",)
    return tuple(f"operation {id}: {each}" for each in _differences(registry, operation, inputs))


def _differences(registry: Registry, operation: Operation, inputs: Sequence[Envelope]) -> Iterator[str]:
    declared = operation.descriptor
    before = [canonical_json(each.payload) for each in inputs]
    first = run_operation(registry, operation, inputs)
    if first.status is Status.INFRASTRUCTURE_FAILURE and first.failure is not None:
        yield f"ends in an infrastructure failure: {first.failure.message}"
        return
    if [canonical_json(each.payload) for each in inputs] != before:
        yield "alters its inputs"
    again = run_operation(registry, operation, inputs)
    if declared.is_deterministic and _protected(first) != _protected(again):
        yield "claims to be deterministic, and gave two answers to one input"
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
    context = {} if operation.context is None else {operation.context: Context()}
    try:
        operation.function(*watched, **context)
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
    context = {} if operation.context is None else {operation.context: Context()}

    def call() -> None:
        with suppress(Exception):  # what it ends in was told before
            operation.function(*values, **context)

    undeclared = sorted(observed_effects(call) - {*operation.descriptor.effects})
    if undeclared:
        yield f"has effects that it does not declare: {', '.join(undeclared)}"


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
