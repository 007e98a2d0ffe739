"""Canonical JSON equals RFC 8785 on whatever it accepts, and refuses the rest with a reason."""

from __future__ import annotations

import json
import struct
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import orjson
import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from opfield.core import canonical_json, parse_json
from opfield.core.canonical import MAX_DEPTH, MAX_INTEGER
from opfield.errors import IdentityError

INTEGERS = st.integers(-MAX_INTEGER, MAX_INTEGER)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
# Every bit pattern is as likely as any other, so that all exponents are met and not the round numbers only.
BIT_PATTERNS = (
    st.integers(0, 2**64 - 1)
    .map(lambda bits: struct.unpack("<d", bits.to_bytes(8, "little"))[0])
    .filter(lambda value: abs(value) < float("inf"))
)
SCALED = st.builds(lambda digits, power: digits * 10.0**power, st.floats(-9.99, 9.99), st.integers(-9, 23))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# Keys on both sides of the surrogates: UTF-16 order differs from code point order only between these two.
KEYS = TEXTS | st.text(st.sampled_from("a\u00e9\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600"), max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | DOUBLES | SCALED | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_equals_rfc_8785_on_generated_values(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@given(BIT_PATTERNS | SCALED | DOUBLES)
@example(-0.0)
@example(5e-324)
@example(2.2250738585072014e-308)
@example(1.7976931348623157e308)
@example(1e-7)
@example(9.999999999999999e-7)
@example(1e-6)
@example(9.999999999999999e-6)
@example(1e-5)
@example(1e15)
@example(9007199254740991.0)
@example(9007199254740992.0)
@example(9007199254740994.0)
@example(1e16)
@example(2.0**60)
@example(999999999999999900000.0)
@example(1e21)
@example(1.5e300)
def test_prints_every_double_as_ecmascript_does(value: float) -> None:
    for double in (value, -value):
        assert canonical_json(double) == rfc8785.dumps(double)
        assert canonical_json([{"k": double}]) == rfc8785.dumps([{"k": double}])


@given(st.dictionaries(KEYS, INTEGERS))
@example({"\ue000": 1, "\U00010000": 2})
@example({"\x00": 1, "\x1f": 2, "\x7f": 3, '"\\/': 4, "\u2028": 5, "": 6})
def test_orders_keys_by_their_utf_16_code_units(value: dict[str, int]) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@given(VALUES)
def test_reading_a_canonical_form_and_writing_it_again_gives_the_same_bytes(value: Any) -> None:
    canonical = canonical_json(value)
    assert parse_json(canonical) == value
    assert canonical_json(parse_json(canonical)) == canonical
    assert canonical_json(parse_json(canonical.decode())) == canonical


@given(BIT_PATTERNS | SCALED)
def test_a_double_comes_back_as_itself(value: float) -> None:
    assert parse_json(canonical_json(value)) == value


@given(VALUES)
def test_the_value_given_is_left_as_it_was(value: Any) -> None:
    before = repr(value)
    canonical_json(value)
    assert repr(value) == before


@given(VALUES)
def test_tuples_and_mappings_count_as_lists_and_objects(value: Any) -> None:
    def frozen(item: Any) -> Any:
        if isinstance(item, list):
            return tuple(frozen(each) for each in item)
        if isinstance(item, dict):
            return MappingProxyType({key: frozen(each) for key, each in item.items()})
        return item

    assert canonical_json(frozen(value)) == canonical_json(value)


class Colour(StrEnum):
    RED = "red"


class Shade(str, Enum):  # noqa: UP042 - str() of a member is its name here, which must not leak into identities
    DARK = "dark"


class Name(str):
    """Text that is compared by object, so that a dict holds two keys of one text."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class Level(IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: int
    y: float


class Backwards(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"b": 1, "a": 2}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("b", "a"))

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, b'"red"'),
        (Shade.DARK, b'"dark"'),
        ({Colour.RED: 1, Shade.DARK: 2}, b'{"dark":2,"red":1}'),
        ({Colour.RED: 1, "\u00e9": 2}, '{"red":1,"\u00e9":2}'.encode()),
        (Level.HIGH, b"3"),
        (Point(1, 2.0), b"[1,2]"),
        (OrderedDict(b=1, a=2), b'{"a":2,"b":1}'),
        (Backwards(), b'{"a":2,"b":1}'),
        (np.float64(0.1), b"0.1"),
        (np.float64(4.0), b"4"),
        (np.str_("text"), b'"text"'),
        ((), b"[]"),
        ({}, b"{}"),
        (-0.0, b"0"),
        (True, b"true"),
    ],
)
def test_subclasses_of_json_types_count_as_what_they_are_made_of(value: Any, expected: bytes) -> None:
    assert canonical_json(value) == expected
    assert canonical_json({"k": [value]}) == b'{"k":[' + expected + b"]}"


REFUSED = [
    (float("nan"), "nan is not finite"),
    (float("inf"), "inf is not finite"),
    (float("-inf"), "-inf is not finite"),
    (np.float64("nan"), "nan is not finite"),
    (2**53, "integer 9007199254740992 is beyond"),
    (-(2**53), "integer -9007199254740992 is beyond"),
    (10**6000, "integer of 19932 bits is beyond"),
    ("\ud800", "lone surrogate"),
    ("a\udfffb", "lone surrogate"),
    ({"\ud800": 1}, "lone surrogate"),
    ({"\ud800": 1, "\U00010000": 2}, "lone surrogate"),
    ({1: "a"}, "key 1 is a int, not text"),
    ({None: "a"}, "key None is a NoneType, not text"),
    ({True: "a"}, "key True is a bool, not text"),
    ({b"a": "a"}, "key b'a' is a bytes, not text"),
    ({"red": 1, Name("red"): 2}, "two keys of one object have the same text"),
    (b"bytes", "a bytes has no canonical form"),
    ({1, 2}, "a set has no canonical form"),
    (date(2026, 1, 1), "a date has no canonical form"),
    (Decimal("1.5"), "a Decimal has no canonical form"),
    (1j, "a complex has no canonical form"),
    (object(), "a object has no canonical form"),
    (np.int64(1), "a int64 has no canonical form"),
    (np.float32(1), "a float32 has no canonical form"),
    (np.bool_(True), "a bool has no canonical form"),
    (np.array([1.0]), "a ndarray has no canonical form"),
    (orjson.Fragment(b"anything"), "a Fragment has no canonical form"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=[f"{type(value).__name__}-{why}" for value, why in REFUSED])
def test_refuses_what_has_no_canonical_form(value: Any, reason: str) -> None:
    for nested in (value, [value], {"k": value}, {"\u00e9": [value]}, {"k": (1, {"k": value})}):
        with pytest.raises(IdentityError, match=reason):
            canonical_json(nested)


def nested(depth: int, *, key: str | None = None) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


@pytest.mark.parametrize("key", [None, "k", "\u00e9"])
def test_nesting_is_accepted_up_to_the_limit_and_refused_beyond(key: str | None) -> None:
    deepest = nested(MAX_DEPTH, key=key)
    assert canonical_json(parse_json(canonical_json(deepest))) == canonical_json(deepest)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(IdentityError, match="nested more than 254 deep"):
            canonical_json(nested(depth, key=key))


def test_a_value_inside_itself_is_refused() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    with pytest.raises(IdentityError, match="inside itself"):
        canonical_json(value)


@given(VALUES)
def test_parse_reads_what_the_standard_library_writes(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert canonical_json(parse_json(text)) == canonical_json(value)
        assert canonical_json(parse_json(text.encode())) == canonical_json(value)


@given(st.text() | st.binary() | TEXTS.map(json.dumps))
@example('"\\ud800"')
@example('{"\\udc00": 1}')
@example("1e400")
@example("123456789012345678901234567890")
def test_whatever_parse_returns_has_a_canonical_form(text: str | bytes) -> None:
    try:
        value = parse_json(text)
    except IdentityError:
        return
    canonical_json(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "duplicate key 'a'"),
        ('[{"b": {"a": 1, "\\u0061": 1}}]', "duplicate key 'a'"),
        ("1 2", "Extra data"),
        ("{} x", "Extra data"),
        ("", "Expecting value"),
        ("[1,]", "not one JSON value"),
        ("'a'", "Expecting value"),
        ('"a\nb"', "control character"),
        ("\ufeff1", "not one JSON value"),
        (b"\xef\xbb\xbf1", "not one JSON value"),
        (b'"\xff"', "not one JSON value"),
        (b'"\xed\xa0\x80"', "not one JSON value"),
        ('{"a": 1}'.encode("utf-16"), "not one JSON value"),
        ("NaN", "NaN is not a JSON number"),
        ("[Infinity]", "Infinity is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ("1e400", "beyond the range of a double"),
        ("-1e400", "beyond the range of a double"),
        ("1" + "0" * 400, "beyond the range of a double"),
        ("1" * 5000, "beyond the range of a double"),
        ("9007199254740993", "beyond what a double holds exactly"),
        ("9007199254740992.5e0", None),
        ("9007199254740992", None),
        ('"\\ud800"', "lone surrogate"),
        ('"\\uD83D\\uDE00"', None),
        ('"\\\\ud800"', None),
        ('"\ud800"', "not one JSON value"),
        ("[" * 100_000, "not one JSON value"),
    ],
)
def test_parse_is_strict(text: str | bytes, reason: str | None) -> None:
    if reason is None:
        canonical_json(parse_json(text))
        return
    with pytest.raises(IdentityError, match=reason):
        parse_json(text)
