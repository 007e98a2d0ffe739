"""CBOR (RFC 8949), as far as a run or judgments need it: maps of text to maps of text to numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

_UNSIGNED, _NEGATIVE, _TEXT, _MAP, _SIMPLE = 0, 1, 3, 5, 7
_WIDTHS: Final = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}
_FLOATS: Final = {25: ">e", 26: ">f", 27: ">d"}


def nested_numbers(content: bytes) -> Iterator[tuple[str, str, int | float]]:
    """Yield (outer key, inner key, number) of a map of maps, in order.

    Raises:
        ValueError: where the content is cut off or holds anything else, naming the byte.
    """
    try:
        outer, at = _head(content, 0, _MAP)
        for _ in range(outer):
            key, at = _text(content, at)
            inner, at = _head(content, at, _MAP)
            for _ in range(inner):
                name, at = _text(content, at)
                number, at = _number(content, at)
                yield key, name, number
    except (IndexError, struct.error):
        raise ValueError("it is cut off") from None


def _head(content: bytes, at: int, kind: int) -> tuple[int, int]:
    """Return the argument of an item of a kind, and where the item's content begins."""
    major, short = content[at] >> 5, content[at] & 31
    if major != kind or short > 27:
        raise ValueError(f"byte {at} begins no map of text to maps of text to numbers")
    if short < 24:
        return short, at + 1
    width = struct.calcsize(_WIDTHS[short])
    (argument,) = struct.unpack_from(_WIDTHS[short], content, at + 1)
    return argument, at + 1 + width


def _text(content: bytes, at: int) -> tuple[str, int]:
    length, start = _head(content, at, _TEXT)
    return content[start : start + length].decode("utf-8"), start + length


def _number(content: bytes, at: int) -> tuple[int | float, int]:
    major, short = content[at] >> 5, content[at] & 31
    if major == _SIMPLE and short in _FLOATS:
        (value,) = struct.unpack_from(_FLOATS[short], content, at + 1)
        return value, at + 1 + struct.calcsize(_FLOATS[short])
    if major == _NEGATIVE:
        argument, start = _head(content, at, _NEGATIVE)
        return -1 - argument, start
    return _head(content, at, _UNSIGNED)
