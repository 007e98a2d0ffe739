"""Words and signs of what a report shows: text made visible, numbers short, unknown told as such."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

UNKNOWN: Final = "unknown"

#: Control characters, separators of lines that are no line feed, marks that turn the direction of what follows, and
#: signs without width, save the joiners that scripts and emoji need.
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return text with what hides, or turns the direction of the rest, spelled out.

    >>> visible("a\x1b[31m" + chr(0x202E) + "b")
    'a\\x1b[31m\\u202eb'
    """
    return HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def all_visible(value: Any) -> Any:
    """Return plain data with every text in it made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: all_visible(item) for key, item in value.items()}
    return [all_visible(item) for item in value] if isinstance(value, list) else value


def number(value: float | None, digits: int = 4) -> str:
    """Return a number in few digits, with a true minus sign; unknown where there is none.

    >>> number(1234567), number(-0.02777777), number(None), number(12.0)
    ('1,234,567', '−0.02778', 'unknown', '12')
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, int):
        told = f"{value:,}"
    elif value == int(value) and abs(value) < 1e15:
        told = f"{int(value):,}"
    else:
        told = f"{value:.{digits}g}"
    return told.replace("-", "−")


def signed(value: float | None, digits: int = 4) -> str:
    """Return a change with its sign; unknown where there is none.

    >>> signed(0.5), signed(-2.0), signed(0.0), signed(None)
    ('+0.5', '−2', '0', 'unknown')
    """
    told = number(value, digits)
    return f"+{told}" if value is not None and value > 0 else told


def isolated(text: str) -> str:
    """Return text that may stand inside a sentence whatever direction its letters run in."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def quoted(text: str) -> str:
    """Return a name inside a sentence, in quotation marks.

    >>> quoted("top-2")
    '“top-2”'
    """
    return f"“{isolated(text)}”"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "cell"), plural(2000, "candidate"), plural(2, "case")
    ('1 cell', '2,000 candidates', '2 cases')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentence(clause: str) -> str:
    """Return a clause as a sentence.

    >>> sentence("both candidates fail")
    'Both candidates fail.'
    """
    return f"{clause[:1].upper()}{clause[1:]}."


def seconds(value: float | None) -> str:
    """Return a time in the unit that suits it.

    >>> seconds(0.0021), seconds(75.0), seconds(None)
    ('0.0021 s', '1.2 min', 'unknown')
    """
    if value is None:
        return UNKNOWN
    for limit, size, unit in ((100, 1, "s"), (6000, 60, "min"), (200_000, 3600, "h")):
        if value < limit and not (unit == "s" and value >= 60):
            return f"{value / size:.2g} {unit}" if unit != "s" or value >= 0.001 else "under 1 ms"
    return f"{value / 86_400:.2g} d"


def short(identity: str | None) -> str:
    """Return the beginning of a digest, long enough to type."""
    return UNKNOWN if identity is None else identity.removeprefix("sha256:")[:12]
