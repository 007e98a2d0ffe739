"""Forms of fields: what a record may hold, told from its annotations and checked without running foreign code.

An exact type is asked for everywhere: a subclass may lie about its value, and a bool is no number. Checking therefore
never calls anything of the value's own, and ends for whatever it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import Enum, StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

#: Most entries of any tuple in a record.
MAX_ENTRIES: Final = 10_000
#: Longest text and longest name, in characters.
MAX_TEXT: Final = 100_000
MAX_NAME: Final = 1_000
#: Whole numbers beyond this are no JSON numbers that every reader holds exactly (RFC 8785).
MAX_WHOLE: Final = 2**53 - 1

_HEX: Final = re.compile(r"[0-9a-f]{64}")


class Form(StrEnum):
    """What a text field holds; one without annotation is a name."""

    DIGEST = "digest"
    TEXT = "text"


#: 64 lowercase hexadecimal digits.
Digest = Annotated[str, Form.DIGEST]
#: Words for people, or words of a source; may be empty.
Text = Annotated[str, Form.TEXT]


class Flaw(StrEnum):
    """What is wrong with the form of a field."""

    TYPE = "is not of the type that stands there"
    NUMBER = "is no whole number within ±(2^53 − 1)"
    DIGEST = "is not 64 lowercase hexadecimal digits"
    TEXT = "is empty, too long or not Unicode"
    ENTRIES = "has too many entries"


class Misform(NamedTuple):
    """One flaw, and the field that it was found in."""

    path: str
    flaw: Flaw


_TYPE: Final = (Misform("", Flaw.TYPE),)
_NUMBER: Final = (Misform("", Flaw.NUMBER),)
_DIGEST: Final = (Misform("", Flaw.DIGEST),)
_TEXT: Final = (Misform("", Flaw.TEXT),)
_ENTRIES: Final = (Misform("", Flaw.ENTRIES),)

#: Returns what is wrong with a value, each flaw with its path below the value.
Check = Callable[[object], Sequence[Misform]]


def misforms(value: object, record: type, path: str, without: frozenset[str] = frozenset()) -> list[Misform]:
    """Return everything that is wrong with the form of `value`, which should be a record and stands at `path`.

    Args:
        value: anything.
        record: class of the record.
        path: where it stands, for people.
        without: fields that are left out.
    """
    return _below(path, _record(record, without)(value))


@cache
def annotations_of(record: type) -> dict[str, Any]:
    """Return the annotation of each field of a record class, in order."""
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in fields(record)}


def well_formed(value: object, record: type[Record]) -> Record | None:
    """Return the value where it is a well-formed record, None where it is anything else."""
    return None if misforms(value, record, "") else cast(Record, value)


def less_none(kind: Any) -> Any:
    """Return what the annotation of an optional field allows beside None; None for any other annotation."""
    if get_origin(kind) not in (Union, UnionType):
        return None
    return next(each for each in get_args(kind) if each is not NoneType)


@cache
def _check(kind: Any) -> Check:
    if kind is int:
        return _whole
    if kind in (str, Digest, Text):
        return _text(kind)
    inner = less_none(kind)
    if inner is not None:
        return _optional(_check(inner))
    if get_origin(kind) is tuple:
        first, second = get_args(kind)
        return _many(_check(first)) if second is Ellipsis else _pair(_check(first), _check(second))
    return _choice(kind) if issubclass(kind, Enum) else _record(kind)


def _whole(value: object) -> Sequence[Misform]:
    return () if type(value) is int and -MAX_WHOLE <= value <= MAX_WHOLE else _NUMBER


def _text(kind: Any) -> Check:
    least, most = (0, MAX_TEXT) if kind is Text else (1, MAX_NAME)

    def check(value: object) -> Sequence[Misform]:
        if type(value) is not str:
            return _TYPE
        if kind is Digest:
            return () if _HEX.fullmatch(value) else _DIGEST
        return () if least <= len(value) <= most and (value.isascii() or _is_unicode(value)) else _TEXT

    return check


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _optional(inner: Check) -> Check:
    return lambda value: () if value is None else inner(value)


def _many(inner: Check) -> Check:
    def check(value: object) -> Sequence[Misform]:
        if type(value) is not tuple:
            return _TYPE
        if len(value) > MAX_ENTRIES:
            return _ENTRIES
        found: list[Misform] = []
        for ix, each in enumerate(value):
            flaws = inner(each)
            if flaws:
                found += _below(f"[{ix}]", flaws)
        return found

    return check


def _pair(first: Check, second: Check) -> Check:
    def check(value: object) -> Sequence[Misform]:
        if type(value) is not tuple or len(value) != 2:
            return _TYPE
        return [*_below("[0]", first(value[0])), *_below("[1]", second(value[1]))]

    return check


def _choice(kind: type[Enum]) -> Check:
    return lambda value: () if type(value) is kind else _TYPE


@cache
def _record(kind: type, without: frozenset[str] = frozenset()) -> Check:
    checks = [(name, _check(each)) for name, each in annotations_of(kind).items() if name not in without]

    def check(value: object) -> Sequence[Misform]:
        if type(value) is not kind:
            return _TYPE
        found: list[Misform] = []
        for name, inner in checks:
            try:
                flaws = inner(getattr(value, name))
            except AttributeError:  # made without its constructor
                flaws = _TYPE
            if flaws:
                found += _below(f".{name}", flaws)
        return found

    return check


def _below(path: str, flaws: Sequence[Misform]) -> list[Misform]:
    return [Misform(path + each.path, each.flaw) for each in flaws]
