"""Whether a derivation key changes with what an operation reads, and with nothing else (§40.2, §47.3).

Each field of an example is changed by itself. The key of the operation has to change with every field that it declares
to read, and to stay with every other; and with those others its answer has to stay, too, whichever way it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel

from opfield.core import Envelope, Status, seal
from opfield.core.execution import Execution
from opfield.interpret import derive
from opfield.plugin import Operation, Registry
from opfield.plugin.codec import field_names
from opfield.plugin.running import Terms, run_operation

#: How many changes of one field are tried.
_MOST_TRIED: Final = 2


def insensitive(
    registry: Registry,
    operation: Operation,
    values: Sequence[Any],
    known: tuple[Sequence[Envelope], Execution],
    terms: Terms,
) -> Iterator[str]:
    """Yield where the key of an operation, or its answer, does not change with what it declares to read.

    Args:
        registry: where it and its schemas are registered.
        operation: the operation.
        values: a value for each of its inputs.
        known: the envelopes of the values, and what it made of them.
        terms: what running it is subject to.
    """
    for ix, (schema, value) in enumerate(zip(operation.descriptor.inputs, values, strict=True)):
        for name in _changeable(registry, schema, value):
            yield from _of_field(registry, operation, known, (ix, value, name), terms)


def _of_field(
    registry: Registry,
    operation: Operation,
    known: tuple[Sequence[Envelope], Execution],
    place: tuple[int, Any, str],
    terms: Terms,
) -> Iterator[str]:
    """Yield what is found on one field of one input."""
    (inputs, first), (ix, value, name) = known, place
    declared = operation.descriptor
    schema = declared.inputs[ix]
    named = declared.fields_read(schema)
    is_read = named is None or name in named
    plan = operation.plan
    key = derive(plan, registry.descriptors, inputs).keys[0]
    for changed in _changes(registry, schema, value, name):
        others = [*inputs[:ix], changed, *inputs[ix + 1 :]]
        is_moved = derive(plan, registry.descriptors, others).keys[0] != key
        if is_read and not is_moved:
            yield f"its key does not change with {schema}#{name}, which it reads"
            return
        if not is_read and is_moved:
            yield f"its key changes with {schema}#{name}, which it does not declare to read"
            return
        if is_read or not declared.is_deterministic or first.status is not Status.SUCCESS:
            continue
        again = run_operation(registry, operation, others, terms)
        if (again.status, again.outputs) != (first.status, first.outputs):
            yield f"answers otherwise when {schema}#{name} changes, which it does not declare to read"
            return


def _changeable(registry: Registry, schema: str, value: Any) -> tuple[str, ...]:
    """Return the fields of a value that can be changed one by one."""
    names = field_names(registry.schemas[schema].codec)
    return tuple(each for each in names if hasattr(value, each))


def _changes(registry: Registry, schema: str, value: Any, name: str) -> Iterator[Envelope]:
    """Yield envelopes of a value with one field changed, as far as the schema admits it."""
    known = registry.schemas[schema]
    before = getattr(value, name)
    others = [getattr(each, name) for each in known.examples if hasattr(each, name)]
    tried = 0
    for other in (*others, *_variations(before)):
        if tried == _MOST_TRIED:
            return
        try:
            if other == before:
                continue
            changed = _with(value, name, other)
            payload = known.codec.encode(schema, changed)
            known.codec.decode(schema, payload)
            envelope = seal(schema, payload)
        except Exception:  # not everything is admissible, and a value may refuse in its own way
            continue
        tried += 1
        yield envelope


def _variations(value: Any) -> Iterator[Any]:
    """Yield values near this one, of its type."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from type(value)
        case int():
            yield from (value + 1, value - 1, value * 2)
        case float():
            yield from (value + 0.5, value / 2)
        case str():
            yield from (value + "x", value[1:])
        case tuple():
            yield from (value[1:], (*value, *value[:1]))
        case list():
            yield from (value[1:], [*value, *value[:1]])
        case dict() if value:
            yield dict(list(value.items())[1:])
        case BaseModel():
            yield from _nested(value, tuple(type(value).model_fields))
        case _ if is_dataclass(value) and not isinstance(value, type):
            yield from _nested(value, tuple(each.name for each in fields(value)))


def _nested(value: Any, names: Sequence[str]) -> Iterator[Any]:
    for name in names:
        for other in _variations(getattr(value, name)):
            yield _with(value, name, other)


def _with(value: Any, name: str, other: Any) -> Any:
    """Return a value with one field changed."""
    if isinstance(value, BaseModel):
        # Made anew, so that what is derived from its fields is.
        held = {each: getattr(value, each) for each in type(value).model_fields}
        return type(value).model_validate({**held, name: other}, by_name=True, by_alias=False)
    return replace(value, **{name: other})
