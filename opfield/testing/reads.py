"""Which fields of a value are read: the value again, of a type that records them (§C.7)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel

Value = TypeVar("Value")


def recording(value: Value, read: set[str]) -> Value:
    """Return a value equal to this one that adds the name of each field to `read` when it is read.

    Models and dataclasses record; another value is returned as it is. What goes over all fields, such as a comparison
    or `model_dump`, reads all of them.

    Args:
        value: a pydantic model or a dataclass.
        read: where the names are gathered.
    """
    kind: Any = type(value)
    names = frozenset(_field_names(value))
    if not names:
        return value

    def read_attribute(self: Any, name: str) -> Any:
        if name == "__class__":
            # A comparison asks for it first, and then for every field.
            return kind
        if name in names:
            read.add(name)
        elif name == "__dict__":
            # A model's own methods go over it.
            read.update(names)
        return object.__getattribute__(self, name)

    # A type for each value: a field is looked up on the type, so that this is where a reading can be seen.
    twin_type = type(kind.__name__, (kind,), {"__getattribute__": read_attribute, "__slots__": ()})
    twin: Any = object.__new__(twin_type)
    for name in names:
        object.__setattr__(twin, name, getattr(value, name))
    if isinstance(value, BaseModel):
        for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
            object.__setattr__(twin, name, getattr(value, name))
    read.clear()
    return cast(Value, twin)


def _field_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, BaseModel):
        return tuple(type(value).model_fields)
    return tuple(each.name for each in fields(value)) if is_dataclass(value) and not isinstance(value, type) else ()
