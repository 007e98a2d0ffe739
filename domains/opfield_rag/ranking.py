"""Querying an index: scores by chunk in two channels, fused; a document scores as its best chunk does.

Each channel is divided by its best score for the query before the weights apply. The vector channel is the cosine of
hashed words and trigrams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from opfield_rag.hashing import SparseVector, hashed_vector, word_features
from opfield_rag.indexing import Floats, Index
from opfield_rag.spec import Querying
from opfield_rag.words import content_words

#: Documents that a ranking is kept down to.
DEPTH: Final = 100


@dataclass(frozen=True, slots=True)
class Scores:
    """What each channel gives every chunk for one query, normalized, and the weighted sum."""

    lexical: Floats
    vector: Floats
    combined: Floats


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk in a ranking.

    Attributes:
        document: id of its document.
        ordinal: position among the chunks of the document, from 0.
        lexical: what the lexical channel gives it, between 0 and 1.
        vector: what the vector channel gives it, between 0 and 1.
        combined: the weighted sum, by which it is ranked.
        words: number of words.
    """

    document: str
    ordinal: int
    lexical: float
    vector: float
    combined: float
    words: int


def query_vector(words: Sequence[str]) -> SparseVector:
    """Return the hashed vector of a query, damped as that of a chunk is; a word need not be in the corpus."""
    return hashed_vector(
        (feature, weight * count.bit_length())
        for word, count in Counter(words).items()
        for feature, weight in word_features(word)
    )


def score_chunks(index: Index, spec: Querying, query: str) -> Scores:
    """Score every chunk for a query; each channel lies between 0 and 1, its best chunk at 1."""
    words = content_words(query)
    known = [index.terms[word] for word in words if word in index.terms]
    lexical = index.bm25.get_scores_from_ids(known) if known else np.zeros(len(index.sizes))
    products = np.zeros(len(index.sizes), dtype=np.int64)
    for bucket, value in query_vector(words).items():
        products += index.buckets[bucket] * value
    # The length of the query's vector divides every chunk alike, so it cannot matter once the best is 1.
    cosines = np.divide(products, index.lengths, out=np.zeros(len(products)), where=index.lengths > 0)
    lexical, similar = _over_best(lexical), _over_best(np.maximum(cosines, 0.0))
    return Scores(lexical, similar, spec.lexical_weight * lexical + spec.vector_weight * similar)


def _over_best(scores: Floats) -> Floats:
    best = scores.max()
    return scores / best if best > 0 else scores


def rank_documents(index: Index, scores: Scores) -> list[Entry]:
    """Return the first `DEPTH` documents by their best chunk, ties by id, less those that score nothing."""
    best = np.maximum.reduceat(scores.combined, index.bounds[:-1])
    ranking = []
    for document in np.argsort(-best, kind="stable")[:DEPTH]:
        if best[document] <= 0:
            break
        start, end = index.bounds[document : document + 2]
        ranking.append(_entry(index, scores, int(start + np.argmax(scores.combined[start:end]))))
    return ranking


def rank_context(index: Index, scores: Scores, top_k: int) -> list[Entry]:
    """Return the first `top_k` chunks, ties by document id and position, less those that score nothing."""
    first = np.argsort(-scores.combined, kind="stable")[:top_k]
    return [_entry(index, scores, int(chunk)) for chunk in first if scores.combined[chunk] > 0]


def _entry(index: Index, scores: Scores, chunk: int) -> Entry:
    document = int(np.searchsorted(index.bounds, chunk, side="right")) - 1
    return Entry(
        document=index.document_ids[document],
        ordinal=chunk - int(index.bounds[document]),
        lexical=float(scores.lexical[chunk]),
        vector=float(scores.vector[chunk]),
        combined=float(scores.combined[chunk]),
        words=int(index.sizes[chunk]),
    )
