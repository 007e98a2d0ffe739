"""Canonical JSON: the one byte form of a value that identities are computed over (RFC 8785, JCS)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

from opfield.errors import IdentityError

type_error = "canonical JSON holds null, booleans, numbers, text, lists and objects with text keys"

#: Integers beyond this have no exact IEEE 754 double and so no canonical form (RFC 8785, section 3.2.2.3).
MAX_INTEGER = 2**53 - 1

# orjson prints a double as ECMAScript does only inside this range of magnitudes; outside it the exponent differs.
_PLAIN_LOW, _PLAIN_HIGH = 1e-5, 1e15


class _Unusual(Exception):  # noqa: N818 - a signal, never an error that leaves this module
    """The value needs the slow encoder: a key beyond ASCII or a number that orjson writes otherwise."""


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form of `value`: keys in UTF-16 order, no white space, numbers as ECMAScript prints them.

    Args:
        value: null, bool, int, finite float, str, list or tuple, mapping with str keys, nested to any usual depth.

    Returns:
        UTF-8 bytes, equal for equal values.

    Raises:
        IdentityError: for NaN, infinity, an integer beyond ±(2^53 − 1), a lone surrogate, a key that is not text, or a
            type that JSON has not.

    >>> canonical_json({"b": 1.0, "a": [True, None, 1e21]})
    b'{"a":[true,null,1e+21],"b":1}'
    """
    try:
        return orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS)
    except (_Unusual, orjson.JSONEncodeError):
        pass
    except RecursionError:
        raise IdentityError("the value is nested too deeply to have a canonical form") from None
    pieces: list[str] = []
    try:
        _write(value, pieces)
        return "".join(pieces).encode("utf-8")
    except UnicodeEncodeError:
        raise IdentityError(
            "text with a lone surrogate is not Unicode and has no canonical form; remove it"
        ) from None
    except RecursionError:
        raise IdentityError("the value is nested too deeply to have a canonical form") from None


def parse_json(text: str | bytes) -> Any:
    """Read one JSON value strictly: no duplicate keys, no NaN or infinity, nothing after the value.

    Raises:
        IdentityError: where the text is not such a value.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    opfield.errors.IdentityError: duplicate key 'a' in a JSON object
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        parsed = dict(items)
        if len(parsed) != len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise IdentityError(f"duplicate key {twice!r} in a JSON object")
        return parsed

    def refuse(name: str) -> Any:
        raise IdentityError(f"{name} is not a JSON number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise IdentityError(f"not one JSON value: {error}") from None


def _plain(value: Any) -> Any:
    """Return `value`, rebuilt where needed, so that orjson writes its canonical form, or signal that it cannot.

    What orjson already writes canonically is returned as it is: most of an event is text, and copying it would cost
    more than encoding it.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
        raise _Unusual
    if kind is float:
        if _PLAIN_LOW <= value < _PLAIN_HIGH or -_PLAIN_HIGH < value <= -_PLAIN_LOW:
            return int(value) if value.is_integer() else value
        if value == 0.0:
            return 0
        raise _Unusual
    if kind is dict:
        return _plain_object(value)
    if kind is list or kind is tuple:
        return [_plain(item) for item in value]
    raise _Unusual


def _plain_object(value: dict[Any, Any]) -> dict[Any, Any]:
    try:
        if not "".join(value).isascii():
            raise _Unusual
    except TypeError:
        raise _Unusual from None
    rebuilt: dict[Any, Any] | None = None
    for key, item in value.items():
        if type(item) is str or item is None:
            continue
        plain = _plain(item)
        if plain is not item:
            if rebuilt is None:
                rebuilt = dict(value)
            rebuilt[key] = plain
    return value if rebuilt is None else rebuilt


def _write(value: Any, out: list[str]) -> None:
    """Append the canonical pieces of any `value`; the reference encoder, slow and complete."""
    if value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, str):
        out.append(_text(value))
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise IdentityError(
                f"integer {value} is beyond ±(2^53 − 1) and has no canonical form; write it as text"
            )
        out.append(str(int(value)))
    elif isinstance(value, float):
        out.append(_number(float(value)))
    elif isinstance(value, Mapping):
        _write_object(value, out)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            out.append("," if index else "[")
            _write(item, out)
        out.append("]" if value else "[]")
    else:
        raise IdentityError(f"a {type(value).__name__} has no canonical form; {type_error}")


def _write_object(value: Mapping[Any, Any], out: list[str]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise IdentityError(f"key {key!r} is a {type(key).__name__}, not text; {type_error}")
    # RFC 8785 orders keys by their UTF-16 code units; big-endian bytes compare in that order.
    ordered = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    for index, key in enumerate(ordered):
        out.append("," if index else "{")
        out.append(_text(key))
        out.append(":")
        _write(value[key], out)
    out.append("}" if ordered else "{}")


def _text(value: str) -> str:
    return json.dumps(str(value), ensure_ascii=False)


def _number(value: float) -> str:
    """Print a double as ECMAScript's Number::toString does, from Python's shortest digits."""
    if not math.isfinite(value):
        raise IdentityError(f"{value} is not finite and has no canonical form; record it as missing")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, power = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # `point` is the position of the decimal point relative to the first significant digit.
    point = len(whole.lstrip("0")) if whole.lstrip("0") else -(len(fraction) - len(fraction.lstrip("0")))
    point += int(power or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    exponent = point - 1
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if exponent >= 0 else '-'}{abs(exponent)}"
