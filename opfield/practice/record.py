"""Records as JSON and back, and the identity that a record bears over its own content (ADR-0232 §15)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar, cast, get_args, get_origin

from opfield.errors import IdentityError
from opfield.practice.form import Digest, Text, annotations_of, less_none, misforms, well_formed
from opfield.practice.identity import EXPLANATION, canonical_id

Record = TypeVar("Record")
Convert = Callable[[Any], Any]

#: Named in a refusal to read; more would not be read.
_MOST_NAMED: Final = 10


def as_json(record: object) -> dict[str, Any]:
    """Return a well-formed record as a JSON object: tuples as lists, tags as their text."""
    kind: Any = type(record)
    return cast(dict[str, Any], _writer(kind)(record))


def read_record(record: type[Record], value: object) -> Record:
    """Return the record in a JSON object with exactly its fields.

    Raises:
        IdentityError: naming the fields that lack, are unknown, or hold what they may not.
    """
    kind: Any = record
    built = record_from(kind, value)
    found = misforms(built, kind, kind.__name__)
    if found:
        named = "; ".join(f"{path} {flaw}" for path, flaw in found[:_MOST_NAMED])
        raise IdentityError(
            f"no {kind.__name__}: {named}. It is a JSON object with the fields {', '.join(annotations_of(kind))}"
        )
    return cast(Record, built)


def record_from(record: Any, value: object) -> object:
    """Return what a JSON value says about a record, unchecked: what does not fit stays as it is, for a check to name.

    An object with a field too many or too few is no record and comes back as the dictionary that it is.
    """
    return _reader(record)(value)


def bears_its_identity(record: object) -> bool:
    """Return whether the first field of a well-formed record is the identity of its content."""
    borne: str = getattr(record, _first_field(type(record)))
    return borne == identity_of(record)


def is_valid(record: type, value: object) -> bool:
    """Return whether a value is a well-formed record that bears the identity of its content."""
    return well_formed(value, record) is not None and bears_its_identity(value)


def identity_of(record: object) -> str:
    """Return the identity that a well-formed record should bear: over its content, with the identity itself blanked.

    The field of the identity is the record's first one. `explanation` is left out.
    """
    payload = as_json(record)
    payload.pop(EXPLANATION, None)
    payload[_first_field(type(record))] = ""
    return canonical_id(payload)


def sealed(record: Record) -> Record:
    """Return the record with the identity that its content has."""
    changes: dict[str, Any] = {_first_field(type(record)): identity_of(record)}
    return cast(Record, replace(cast(Any, record), **changes))


def _first_field(record: Any) -> str:
    """Return the name of a record class's first field, which holds its identity."""
    return next(iter(annotations_of(record)))


@cache
def _writer(kind: Any) -> Convert:
    present = less_none(kind)
    if present is not None:
        write = _writer(present)
        return lambda value: None if value is None else write(value)
    if get_origin(kind) is tuple:
        inner = _writer(get_args(kind)[0])
        return list if inner is _same else lambda value: [inner(each) for each in value]
    if kind in (int, str, Digest, Text):
        return _same
    if issubclass(kind, Enum):
        return lambda value: value.value
    writers = [(name, _writer(each)) for name, each in annotations_of(kind).items()]

    def write_record(value: Any) -> dict[str, Any]:
        told = {}
        for name, write_field in writers:
            held = getattr(value, name)
            told[name] = held if write_field is _same else write_field(held)
        return told

    return write_record


@cache
def _reader(kind: Any) -> Convert:
    if less_none(kind) is not None:
        return _reader(less_none(kind))
    if get_origin(kind) is tuple:
        inner = _reader(get_args(kind)[0])
        return lambda value: tuple(inner(each) for each in value) if isinstance(value, list) else value
    if kind in (int, str, Digest, Text):
        return _same
    if issubclass(kind, Enum):
        members = {member.value: member for member in kind}
        return lambda value: members.get(value, value) if isinstance(value, str) else value
    readers = [(name, _reader(each)) for name, each in annotations_of(kind).items()]
    names = {name for name, _ in readers}

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() != names:
            return value
        return kind(**{name: read_field(value[name]) for name, read_field in readers})

    return read


def _same(value: Any) -> Any:
    return value
