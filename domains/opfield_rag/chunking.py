"""Cutting a document into chunks of words that overlap."""

from __future__ import annotations

from collections.abc import Iterator


def chunk_spans(words: int, chunk_words: int, overlap_words: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each chunk of a document; none for an empty one.

    A chunk starts `chunk_words - overlap_words` words after the one before it. The first chunk that reaches
    the end of the document is the last, so no chunk lies wholly within another.

    Args:
        words: words in the document.
        chunk_words: words in a chunk, above `overlap_words`.
        overlap_words: words that a chunk repeats from the one before it.

    >>> list(chunk_spans(44, 24, 4))
    [(0, 24), (20, 44)]
    >>> list(chunk_spans(10, 24, 4)), list(chunk_spans(0, 24, 4))
    ([(0, 10)], [])
    """
    start = 0
    while start < words:
        end = min(start + chunk_words, words)
        yield start, end
        if end == words:
            return
        start += chunk_words - overlap_words
