"""What is kept of another tool's values: without credentials, without what JSON lacks, and no deeper than is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from opfield.core import scrub
from opfield.core.canonical import MAX_INTEGER

#: Lists and objects of what is kept stand inside each other this deep at most.
DEEPEST: Final = 100

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS: Final = frozenset(
    {"apikey", "authorization", "cookie", "credential", "credentials", "key"}
    | {"passphrase", "passwd", "password", "secret", "secrets"}
)


def without_secrets(value: Any, *, scrubbed: bool = True, room: int = DEEPEST) -> Any:
    """Return a JSON value without members named like a credential, without what is not finite, its text scrubbed.

    Args:
        value: the value.
        scrubbed: whether text is scrubbed too; the answer of a model is kept as it is.
        room: how deep lists and objects may stand inside each other; what lies deeper becomes `…`.
    """
    if isinstance(value, str):
        return scrub(value) if scrubbed else value
    if isinstance(value, Mapping | list) and room == 0:
        return "…"
    if isinstance(value, Mapping):
        return {
            name: without_secrets(item, scrubbed=scrubbed, room=room - 1)
            for name, item in value.items()
            if not is_secret_name(name)
        }
    if isinstance(value, list):
        return [without_secrets(item, scrubbed=scrubbed, room=room - 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return as_doubles(value)


def is_secret_name(name: str) -> bool:
    """Return whether a member of this name may hold a credential.

    >>> [name for name in ("apiKey", "auth_token", "x-api-key", "max_tokens", "tokenUsage") if is_secret_name(name)]
    ['apiKey', 'auth_token', 'x-api-key']
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (not _SECRET_WORDS.isdisjoint(words) or words[-1] == "token")


def as_doubles(value: Any) -> Any:
    """Return a JSON value with integers beyond a double's precision as the doubles that JavaScript made of them."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return float(value) if abs(value) < 10**308 else float("inf")
    if isinstance(value, Mapping):
        return {name: as_doubles(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_doubles(item) for item in value]
    return value


def is_deep(value: Any, room: int = DEEPEST) -> bool:
    """Return whether lists and objects stand inside each other deeper than is kept."""
    if not isinstance(value, Mapping | list):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return room == 0 or any(is_deep(item, room - 1) for item in inner)
