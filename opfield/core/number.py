"""Numbers as declarations take them: a bool is none, though Python says it is an int."""

from __future__ import annotations

from typing import TypeGuard


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether `value` is an int or a float, NaN and infinities included.

    >>> is_number(1), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: object) -> TypeGuard[int]:
    """Return whether `value` is a whole number above 0.

    >>> is_count(1), is_count(0), is_count(True), is_count(1.0)
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
