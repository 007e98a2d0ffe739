"""Canonical JSON: the one byte form of a value that identities are computed over (RFC 8785, JCS)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import orjson

from opfield.errors import IdentityError

#: Integers beyond this have no exact IEEE 754 double and so no canonical form (RFC 8785, section 3.2.2.3).
MAX_INTEGER: Final = 2**53 - 1

#: Lists and objects may stand inside each other this deep; the encoder beneath goes no deeper.
MAX_DEPTH: Final = 254

# A finite double has at most 309 digits before its point, and a sign.
_MOST_DIGITS: Final = 310

# Between these magnitudes orjson prints a double that is no whole number as ECMAScript does.
_LEAST_PLAIN: Final = 1e-5
_MOST_PLAIN: Final = float(MAX_INTEGER)

# The first UTF-8 byte of a character beyond the Basic Multilingual Plane (U+10000 and up).
_FIRST_BYTES_BEYOND_BMP: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form of `value`: sorted keys, no white space, numbers as ECMAScript has them.

    Keys stand in the order of their UTF-16 code units. Text, integers and floats of a subclass (`StrEnum`,
    `numpy.float64`) count as what they are made of; a tuple is a list. No other type is guessed at: the
    caller converts an array, a `numpy.int64`, a date or a set.

    Args:
        value: null, bool, int, finite float, str, list or tuple, or mapping with str keys; nested at most
            `MAX_DEPTH` deep.

    Returns:
        UTF-8 bytes, equal for equal values.

    Raises:
        IdentityError: for NaN, infinity, an integer beyond ±(2^53 − 1), a lone surrogate, a key that is not
            text, two keys of one text, deeper nesting, or a type that JSON has not.

    >>> canonical_json({"b": 1.0, "a": [True, None, 1e21]})
    b'{"a":[true,null,1e+21],"b":1}'
    """
    try:
        plain = _plain(value)
    except RecursionError:
        raise _too_deep() from None
    try:
        encoded = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # an unusual key, a lone surrogate, or too deep: the slow way tells which
        return _encode(_with_ordered_keys(plain, MAX_DEPTH))
    # orjson orders keys by their UTF-8 bytes; that is UTF-16 order where no character lies beyond the BMP.
    if encoded.isascii() or not any(byte in encoded for byte in _FIRST_BYTES_BEYOND_BMP):
        return encoded
    return _encode(_with_ordered_keys(plain, MAX_DEPTH))


def parse_json(text: str | bytes) -> Any:
    """Read one JSON value strictly: whatever it returns has a canonical form, unless it is nested too deeply.

    Args:
        text: the value as text or as UTF-8 bytes, without a byte order mark.

    Returns:
        The value. A whole number beyond ±(2^53 − 1) comes back as the float whose canonical form it is, so
            that reading a canonical form and writing it again gives the same bytes.

    Raises:
        IdentityError: for text that is not one JSON value and nothing more, duplicate keys, NaN, a number
            beyond the range or, for integers, the precision of a double, or a lone surrogate.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    opfield.errors.IdentityError: duplicate key 'a' in a JSON object
    """
    try:
        source = text.decode("utf-8") if isinstance(text, bytes) else text
        value = _DECODER.decode(source)
        if not source.isascii():
            source.encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise IdentityError(f"not one JSON value: {error}") from None
    if "\\ud" in source or "\\uD" in source:
        canonical_json(value)  # an escape may spell a lone surrogate
    return value


def _plain(value: Any) -> Any:
    """Return `value` with every number and type as orjson writes them canonically; keys are not looked at.

    What is plain already is returned as it is: most of an event is text, and copying it would cost more than
    encoding it.
    """
    kind = type(value)
    if kind is dict:
        plain = value
        for key, item in value.items():
            if type(item) is str or item is None:
                continue
            new = _plain(item)
            if new is not item:
                if plain is value:
                    plain = value.copy()
                plain[key] = new
        return plain
    if kind is float:
        if _LEAST_PLAIN <= value <= _MOST_PLAIN or -_MOST_PLAIN <= value <= -_LEAST_PLAIN:
            return int(value) if value.is_integer() else value
        return orjson.Fragment(_number(value).encode())
    if kind is int:
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
        shown = str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"
        raise IdentityError(f"integer {shown} is beyond ±(2^53 − 1) and has no canonical form; write it as text")
    if kind is list or kind is tuple:
        return [_plain(item) for item in value]
    if kind is str or kind is bool or value is None:
        return value
    return _plain(_base_value(value))


def _base_value(value: Any) -> Any:
    """Return the value of a built-in type that `value`, of a subclass or a `Mapping`, stands for."""
    if isinstance(value, str):
        return str.__str__(value)  # str() of a (str, Enum) member is its name, not its text
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return list(value)
    raise IdentityError(
        f"a {type(value).__name__} has no canonical form; "
        "convert it to null, a boolean, a number, text, a list, or an object with text keys"
    )


def _with_ordered_keys(plain: Any, room: int) -> Any:
    """Return `plain` with keys checked; an object that orjson would order otherwise is encoded already."""
    if not isinstance(plain, dict | list):
        return plain
    if room == 0:
        raise _too_deep()
    if isinstance(plain, list):
        return [_with_ordered_keys(item, room - 1) for item in plain]
    members: dict[str, Any] = {}
    for key, item in plain.items():
        if not isinstance(key, str):
            raise IdentityError(f"key {key!r} is a {type(key).__name__}, not text; write it as text")
        members[str.__str__(key)] = _with_ordered_keys(item, room - 1)
    if len(members) != len(plain):
        raise IdentityError("two keys of one object have the same text; keep one of them")
    if "".join(members).isascii():
        return members
    # RFC 8785 orders keys by their UTF-16 code units; big-endian bytes compare in that order.
    ordered = sorted(members, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    written = b",".join(_encode(key) + b":" + _encode(members[key]) for key in ordered)
    return orjson.Fragment(b"{" + written + b"}")


def _encode(plain: Any) -> bytes:
    try:
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # all that can be left of what orjson refuses
        raise IdentityError("text with a lone surrogate is not Unicode and has no canonical form; remove it") from None


def _number(value: float) -> str:
    """Print a double as ECMAScript's Number::toString does, from Python's shortest digits."""
    if not math.isfinite(value):
        raise IdentityError(f"{value} is not finite and has no canonical form; record it as missing")
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"


def _too_deep() -> IdentityError:
    return IdentityError(
        f"a value nested more than {MAX_DEPTH} deep, or inside itself, has no canonical form; flatten it"
    )


def _object_of(members: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for key, item in members:
        if key in parsed:
            raise IdentityError(f"duplicate key {key!r} in a JSON object")
        parsed[key] = item
    return parsed


def _integer_of(text: str) -> int | float:
    # Python reads no integer of very many digits; a double of a few hundred is out of range anyway.
    value = int(text) if len(text) <= _MOST_DIGITS else None
    if value is not None and -MAX_INTEGER <= value <= MAX_INTEGER:
        return value
    double = _float_of(text)
    if _number(double) == text:
        return double
    raise IdentityError(f"integer {text[:40]} is beyond what a double holds exactly; write it as text")


def _float_of(text: str) -> float:
    value = float(text)
    if math.isfinite(value):
        return value
    raise IdentityError(f"number {text[:40]} is beyond the range of a double")


def _constant_of(name: str) -> Any:
    raise IdentityError(f"{name} is not a JSON number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object_of,
    parse_int=_integer_of,
    parse_float=_float_of,
    parse_constant=_constant_of,
)
