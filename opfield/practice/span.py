"""Evidence: exact places in a source (ADR-0232 §14)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from opfield.practice.form import Digest, Text


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A stretch of a source text, with the words that stand there.

    Attributes:
        source_digest: SHA-256 of the source's UTF-8 bytes.
        source_length: length of the source, in Unicode characters.
        start: first character, counted from 0.
        end: character behind the last one.
        text: the words, exactly `end - start` characters.
    """

    source_digest: Digest
    source_length: int
    start: int
    end: int
    text: Text


def spans_overlap(spans: Iterable[SourceSpan]) -> bool:
    """Return whether two different spans share a character of one source; a span twice is two equal entries.

    >>> spans_overlap([SourceSpan("0" * 64, 9, 0, 3, "abc"), SourceSpan("0" * 64, 9, 2, 4, "cd")])
    True
    """
    reached: dict[str, int] = {}
    for span in sorted(set(spans), key=lambda each: (each.source_digest, each.start, each.end, each.text)):
        before = reached.get(span.source_digest, span.start)
        if span.start < before:
            return True
        reached[span.source_digest] = max(before, span.end)
    return False
