"""What one value of a table means: a key, a text, a number or a time, or why it can be none of them."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from opfield.core import MissingReason
from opfield.ingest.keys import LONGEST, fault_of
from opfield.ingest.records import Key
from opfield.metric import MAX_MAGNITUDE

#: Texts that stand for no value where a number is asked for; they are compared in lower case.
_ABSENT: Final = frozenset({"", "na", "n/a", "#n/a", "null", "none", "<na>"})
_NOT_FINITE: Final = frozenset({"nan", "inf", "infinity"})
_TRUTHS: Final = {"true": 1.0, "false": 0.0}
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
#: Whole numbers beyond this are not exact as a float, so a float is no key there.
_EXACT: Final = 2**53


class Unfit(Exception):  # noqa: N818 - it names what the value is; nothing outside the package meets it
    """A value cannot be what the mapping says it is."""

    def __init__(self, reason: str, remedy: str) -> None:
        """Keep the reason, which holds the value, and the remedy, which is the same for all values of the column."""
        super().__init__(reason)
        self.reason, self.remedy = reason, remedy


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a table gives it.

    Attributes:
        value: the finite number; None where there is none.
        missing: why there is none; None where there is one.
        is_text: whether it was written as text.
        is_stand_in: whether a number too large to be measured stood for none.
    """

    value: float | None
    missing: MissingReason | None = None
    is_text: bool = False
    is_stand_in: bool = False


def key_of(value: Any, column: str) -> Key:
    """Return the key that a value is; its type is kept, and a whole float is the integer that it equals.

    A CSV file has no types, so its keys are texts: `007` stays `007`. A float column of whole numbers is what pandas
    makes of integers beside a NULL, and JSON's own rule is that 1.0 and 1 are one number (RFC 8785).

    Raises:
        Unfit: for NULL, NaN, empty text, booleans, fractions, bytes, lists and objects.

    >>> key_of("007", "id"), key_of(7, "id"), key_of(7.0, "id")
    ('007', 7, 7)
    """
    if value is None or (isinstance(value, float | Decimal) and math.isnan(value)):
        raise Unfit(f"column {column!r} is NULL", f"give every row its {column!r}, or leave the row out of the file")
    if isinstance(value, bool):
        raise Unfit(
            f"column {column!r} holds the boolean {value}", f"{column!r} names rows; write it as text or as an integer"
        )
    if isinstance(value, float | Decimal):
        is_exact = isinstance(value, Decimal) or abs(value) <= _EXACT
        if not math.isfinite(value) or value != int(value) or not is_exact:
            raise Unfit(
                f"column {column!r} holds {value}, which is no whole number",
                f"write {column!r} as text or as integers; a fraction names no row",
            )
        return int(value)
    if isinstance(value, int):
        if (fault := fault_of(f"value of column {column!r}", value)) is not None:
            raise Unfit(*fault)
        return value
    text = value if isinstance(value, str) else _moment_or_uuid(value)
    if text is None:
        raise Unfit(
            f"column {column!r} holds a {type(value).__name__}: {shown(value)}",
            f"name a column of text or integers instead of {column!r}",
        )
    if not text.strip() or text.lower() == "nan":
        what = repr(text) if text.strip() else "empty"
        raise Unfit(f"column {column!r} is {what}", f"give every row its {column!r}, or leave the row out of the file")
    fault = fault_of(f"value of column {column!r}", text)
    if fault is not None:
        raise Unfit(fault[0], f"mend {column!r} there: {fault[1]}")
    return text


def joined_key(keys: list[Key]) -> Key:
    """Return one key for the keys of several columns; JSON text keeps their types and their borders.

    Raises:
        Unfit: where it is too long.

    >>> joined_key(["a", 1]), joined_key(["a"])
    ('["a",1]', 'a')
    """
    if len(keys) == 1:
        return keys[0]
    joined = json.dumps(keys, ensure_ascii=False, separators=(",", ":"))
    if (size := len(joined.encode())) > LONGEST:
        raise Unfit(
            f"the columns of the case make a key of {size} bytes, at most {LONGEST} are kept", "name fewer with --case"
        )
    return joined


def text_of(value: Any, column: str) -> str | None:
    """Return a value as a short text, such as a group's name; None where there is none.

    Raises:
        Unfit: where it is a list, an object, bytes or a fraction.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(key_of(value, column))


def number_of(value: Any, column: str) -> Number:
    """Return the number that a value is; booleans are 0 and 1, and numbers written as text are read.

    Raises:
        Unfit: for text that is no number, times, bytes, lists and objects.

    >>> number_of("0.5", "score").value, number_of(float("nan"), "score").missing.value
    (0.5, 'not_finite')
    """
    if value is None:
        return Number(None, MissingReason.NOT_EMITTED)
    if isinstance(value, float | int):
        return _bounded(value, is_text=False)
    if isinstance(value, Decimal):
        return _bounded(float(value), is_text=False)
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _ABSENT:
            return Number(None, MissingReason.NOT_EMITTED)
        if text.lstrip("+-") in _NOT_FINITE:
            return Number(None, MissingReason.NOT_FINITE)
        if text in _TRUTHS:
            return Number(_TRUTHS[text], is_text=True)
        if _NUMBER.fullmatch(text):
            return _bounded(float(text), is_text=True)
    comma = isinstance(value, str) and _NUMBER.fullmatch(value.strip().replace(",", ".", 1)) is not None
    raise Unfit(
        f"column {column!r} holds {shown(value)}, which is no number",
        f"write the decimals of {column!r} with a point"
        if comma
        else f"mend {column!r} there, leave it empty where there is no value, or name another column",
    )


def amount_of(value: Any, column: str) -> float | None:
    """Return an amount, such as a cost or seconds; None where the file does not say.

    Raises:
        Unfit: where it is no number, or below 0.
    """
    number = number_of(value, column).value
    if number is not None and number < 0:
        raise Unfit(f"column {column!r} is {number:g}, below 0", f"mend {column!r} there, or name another column")
    return number


def count_of(value: Any, column: str) -> int | None:
    """Return a count, such as tokens; None where the file does not say.

    Raises:
        Unfit: where it is no whole number of at least 0.
    """
    number = amount_of(value, column)
    if number is not None and number != int(number):
        raise Unfit(
            f"column {column!r} is {number:g}, no whole number", f"name another column than {column!r} for tokens"
        )
    return None if number is None else int(number)


def time_of(value: Any, column: str) -> str | None:
    """Return a time as ISO 8601 text, with a zone or naive as the file has it; None where it has none.

    Raises:
        Unfit: where it is anything else, since seconds and milliseconds look alike.
    """
    text = value.strip() if isinstance(value, str) else _moment_or_uuid(value)
    if value is None or text == "":
        return None
    try:
        dt.datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        raise Unfit(
            f"column {column!r} holds {shown(value)}, which is no ISO 8601 time",
            f"write {column!r} like 2026-01-31T12:00:00Z, or do not name it",
        ) from None
    return text


def shown(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _bounded(value: float | int, *, is_text: bool) -> Number:
    # Compared before it is converted: an integer may be too large for a float.
    if isinstance(value, float) and not math.isfinite(value) and not is_text:
        return Number(None, MissingReason.NOT_FINITE)
    if abs(value) >= MAX_MAGNITUDE:
        return Number(None, MissingReason.NOT_FINITE, is_stand_in=True)
    return Number(float(value), is_text=is_text)


def _moment_or_uuid(value: Any) -> str | None:
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else None
