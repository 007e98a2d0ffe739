"""Which fields of a value are read: the value again, of a type that records them (§C.7).

What is derived from fields when a value is made, such as a private attribute, and what takes a value as a whole, such
as its `__dict__`, a dump, a copy or a pickle, reads all fields. Code that goes round a type's own attribute access, by
`object.__getattribute__` or from C, is not seen here; the kit changes each field that was not declared, and sees by the
answer whether it was read.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel

Value = TypeVar("Value")

#: What goes over a whole value without naming fields.
_WHOLE: Final = frozenset(
    {"__dict__", "__getstate__", "__reduce__", "__reduce_ex__", "__pydantic_private__", "__pydantic_extra__"}
)
_OF_MODELS: Final = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


def recording(value: Value, read: set[str]) -> Value:
    """Return a value equal to this one that adds the name of each field to `read` when it is read.

    Models and dataclasses record; another value is returned as it is.

    Args:
        value: a pydantic model or a dataclass.
        read: where the names are gathered.
    """
    kind: Any = type(value)
    names = frozenset(_field_names(value))
    if not names:
        return value
    derived = _derived(value) - names

    def read_attribute(self: Any, name: str) -> Any:
        if name == "__class__":
            # A comparison asks for it first, and then for every field.
            return kind
        if name in names:
            read.add(name)
        elif name in _WHOLE or name in derived:
            read.update(names)
        return object.__getattribute__(self, name)

    def read_private(self: Any, name: str) -> Any:
        # A model looks its private attributes up by itself, where nothing else has the name.
        read.update(names)
        return kind.__getattr__(self, name)

    def reduced(self: Any, protocol: Any) -> Any:  # noqa: ARG001  the pickling protocol's form
        # A copy, and what another process gets, is one of the plain type.
        read.update(names)
        return value.__reduce_ex__(protocol)

    members: dict[str, Any] = {"__getattribute__": read_attribute, "__reduce_ex__": reduced, "__slots__": ()}
    if hasattr(kind, "__getattr__"):
        members["__getattr__"] = read_private
    # A type for each value: a field is looked up on the type, so that this is where a reading can be seen.
    twin: Any = object.__new__(type(kind.__name__, (kind,), members))
    # In the order in which the value has them, which what goes over it shows.
    for name in (*_field_names(value), *sorted(derived)):
        object.__setattr__(twin, name, getattr(value, name))
    if isinstance(value, BaseModel):
        for name in _OF_MODELS:
            object.__setattr__(twin, name, getattr(value, name))
    read.clear()
    return cast(Value, twin)


def _derived(value: Any) -> frozenset[str]:
    """Return what a value holds beside its fields; it was made from them."""
    held = set(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        held.update((slots,) if isinstance(slots, str) else slots)
    return frozenset(each for each in held if not each.startswith("__") and hasattr(value, each))


def _field_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, BaseModel):
        return tuple(type(value).model_fields)
    return tuple(each.name for each in fields(value)) if is_dataclass(value) and not isinstance(value, type) else ()
