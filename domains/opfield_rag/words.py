"""Text to words: what both corpora are tokenized by."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]{2,}")

#: English words that say nothing about a topic; left out of both channels.
STOPWORDS: Final = frozenset(
    """
    about after again all also an and any are as at be been before being but by can could did do does
    during each for from had has have how if in into is it its may me more most must my no nor not of off
    on once one only or other our out over own same shall she should so some such than that the their them
    then there these they this those through to too under until up very was we were what when where which
    while who why will with would you your
    """.split()  # noqa: SIM905 - a word list reads better than a list of words
)


def content_words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without stopwords and single characters.

    >>> content_words("How deep do tulip-bulbs go?")
    ['deep', 'tulip', 'bulbs', 'go']
    """
    return [word for word in _WORD.findall(text.lower()) if word not in STOPWORDS]
