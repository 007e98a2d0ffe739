"""Which keys of two files would match, were they written alike: told to the user, never acted upon."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from opfield.ingest.readers.retrieval.refusals import shown

_WAYS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("without white space around them", str.strip),
    ("regardless of case", str.casefold),
    ("without leading zeros", lambda key: key.lstrip("0") or "0"),
    ("as whole numbers", lambda key: _whole(key)),
    ("without what stands before the number", lambda key: _whole(re.sub(r"^[^0-9]+(?=[0-9])", "", key))),
)


def would_match(ours: Iterable[str], theirs: Iterable[str]) -> str | None:
    """Return how the most of our keys would match theirs, with an example; None where nothing helps.

    >>> would_match(["001", "002"], ["1", "2", "3"])
    "2 would match without leading zeros, such as '001' and '1'"
    """
    ours, theirs = list(ours), list(theirs)
    best: tuple[int, str] | None = None
    for words, way in _WAYS:
        known = {way(key): key for key in theirs}
        matched = [key for key in ours if way(key) in known]
        if matched and (best is None or len(matched) > best[0]):
            pair = f"{shown(matched[0])} and {shown(known[way(matched[0])])}"
            best = len(matched), f"{len(matched):,} would match {words}, such as {pair}"
    return best[1] if best else None


def _whole(key: str) -> str:
    digits = re.fullmatch(r"\s*\+?0*([0-9]+)(?:\.0*)?\s*", key)
    return digits[1] if digits else key
