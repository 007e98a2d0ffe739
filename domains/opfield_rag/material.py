"""Wires that carry what is too large to be written down: the payload says by digests what a value is.

The value itself stays in memory, with whoever made it. Where nobody holds what a payload describes, it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import opfield as of
from opfield.plugin import Registry
from opfield_rag.shelf import Recent

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class InMemory(Generic[Value]):
    """A codec whose payloads stand for values in memory.

    Attributes:
        describe: says what a value is, by digests of all that it holds: equal descriptions, equal values.
        values: values by the digest of their description; the most recent ones where nobody gives a place for them.
    """

    describe: Callable[[Value], Mapping[str, Any]]
    values: MutableMapping[str, Value] = field(default_factory=lambda: Recent(8))

    def encode(self, schema: str, value: Value) -> Any:
        """Return the description of a value, which is held from now on."""
        payload = dict(self.describe(value))
        self.values[of.seal(schema, payload).digest] = value
        return payload

    def decode(self, schema: str, payload: Any) -> Value:
        """Return the value that a payload stands for.

        Raises:
            OpfieldError: where it is not held.
        """
        value = self.values.get(of.seal(schema, payload).digest)
        if value is None:
            raise of.OpfieldError(f"payload of {schema} describes what is not in memory here; make it again")
        return value


def holding(registry: Registry, values: MutableMapping[str, Any]) -> Registry:
    """Return a registry of the same meaning and identity that finds and leaves values in memory in a given place."""
    return replace(
        registry,
        schemas={
            id: replace(schema, codec=replace(schema.codec, values=values))
            if isinstance(schema.codec, InMemory)
            else schema
            for id, schema in registry.schemas.items()
        },
    )
