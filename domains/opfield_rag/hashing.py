"""Feature hashing: a sparse vector of whole numbers for a bag of features, the same on every platform.

Whole numbers keep the dot products exact, so no order of summation, thread count or processor changes a
score.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

#: Buckets that features are hashed into.
DIMENSIONS: Final = 256

SparseVector = Mapping[int, int]


@lru_cache(maxsize=1 << 18)
def bucket_of(feature: str) -> tuple[int, int]:
    """Return the bucket of a feature and the sign under which it counts there.

    The signs make collisions cancel on average, so that unrelated texts have a product near 0 (Weinberger et
    al., 2009, "Feature hashing for large scale multitask learning").
    """
    hashed = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
    return hashed % DIMENSIONS, 1 if hashed >> 63 else -1


def grams(word: str) -> Iterator[str]:
    """Yield the trigrams of a word between its ends, so that inflected forms share most of them.

    >>> list(grams("rose"))
    ['<ro', 'ros', 'ose', 'se>']
    """
    padded = f"<{word}>"
    yield from (padded[start : start + 3] for start in range(len(padded) - 2))


def word_features(word: str) -> Iterator[tuple[str, int]]:
    """Yield the weighted features of a word: itself, and its trigrams at a quarter of that."""
    yield word, 4
    yield from ((gram, 1) for gram in grams(word))


def hashed_vector(weighted: Iterable[tuple[str, int]]) -> SparseVector:
    """Return the vector of features with whole weights, buckets in ascending order and without zeros."""
    totals: dict[int, int] = {}
    for feature, weight in weighted:
        bucket, sign = bucket_of(feature)
        totals[bucket] = totals.get(bucket, 0) + sign * weight
    return {bucket: totals[bucket] for bucket in sorted(totals) if totals[bucket]}


def cosine(left: SparseVector, right: SparseVector) -> float:
    """Return the cosine of two vectors; 0 where one of them is empty.

    >>> cosine({1: 3, 2: 4}, {1: 3, 2: 4}), cosine({1: 3}, {})
    (1.0, 0.0)
    """
    squares = sum(value * value for value in left.values()) * sum(value * value for value in right.values())
    if not squares:
        return 0.0
    return sum(value * right.get(bucket, 0) for bucket, value in left.items()) / math.sqrt(squares)
