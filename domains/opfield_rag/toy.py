"""The toy: retrieval over the gardening corpus, whole and small enough that every artifact can be read (§36).

Everything is text, whole numbers, and single divisions and square roots, so the same specification gives the
same bytes on every platform.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import opfield as of
from opfield_rag.gardening import DOCUMENTS, MEANINGS, QUESTIONS
from opfield_rag.hashing import SparseVector, cosine, hashed_vector, word_features
from opfield_rag.measures import recall, reciprocal_rank, relevant_documents
from opfield_rag.spec import Querying
from opfield_rag.words import content_words

#: Identity of the gardening corpus.
CORPUS: Final = of.seal(
    "ragtoy.corpus/v1", {"documents": [{"id": id, "text": DOCUMENTS[id]} for id in DOCUMENTS]}
).digest

_MEANING_OF: Final = {word: meaning for meaning, words in MEANINGS.items() for word in words}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a document, as both channels see it.

    Attributes:
        document: id of the document.
        ordinal: position among the chunks of the document, from 0.
        words: number of words.
        terms: distinct content words, sorted; the lexical channel.
        vector: hashed meanings; the vector channel.
    """

    document: str
    ordinal: int
    words: int
    terms: tuple[str, ...]
    vector: SparseVector


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk with what each channel gives it for one query.

    Attributes:
        chunk: the chunk.
        lexical: share of the query's content words that stand in the chunk.
        vector: cosine of the hashed meanings of query and chunk.
        combined: the weighted sum, by which chunks are ranked.
    """

    chunk: Chunk
    lexical: float
    vector: float
    combined: float


def meaning_vector(words: list[str]) -> SparseVector:
    """Return the hashed vector of content words, each counted as what it means where that is known."""
    return hashed_vector(feature for word in words for feature in word_features(_MEANING_OF.get(word, word)))


def index_chunk(document: str, ordinal: int, words: list[str]) -> Chunk:
    """Return words of a document as both channels see them."""
    content = content_words(" ".join(words))
    return Chunk(document, ordinal, len(words), tuple(sorted(set(content))), meaning_vector(content))


def rank_chunks(chunks: Iterable[Chunk], spec: Querying, query: str) -> list[Scored]:
    """Score every chunk and order them, best first; ties by document, then ordinal."""
    content = content_words(query)
    terms, vector = set(content), meaning_vector(content)
    scored = []
    for chunk in chunks:
        lexical = len(terms.intersection(chunk.terms)) / len(terms) if terms else 0.0
        similarity = cosine(vector, chunk.vector)
        combined = spec.lexical_weight * lexical + spec.vector_weight * similarity
        scored.append(Scored(chunk, lexical, similarity, combined))
    return sorted(scored, key=lambda entry: (-entry.combined, entry.chunk.document, entry.chunk.ordinal))


def measure_context(
    context: Sequence[tuple[str, int]], scored: int, grades: Mapping[str, int]
) -> dict[str, float | int | None]:
    """Return the measurements of a trial.

    Args:
        context: document and number of words of each chunk of the context, best first.
        scored: how many chunks were scored.
        grades: grade by document id.
    """
    documents = [document for document, _ in context]
    relevant = relevant_documents(grades)
    return {
        "recall": recall(documents, relevant),
        "mrr": reciprocal_rank(documents, relevant),
        "hit_rate": int(any(document in relevant for document in documents)),
        "scored_chunks": scored,
        "context_words": sum(words for _, words in context),
    }


def toy_cases() -> tuple[of.Case, ...]:
    """Return the nine questions as cases."""
    return tuple(
        of.Case(
            id,
            {"query": query, "relevant": dict.fromkeys(relevant, 1), "corpus": CORPUS},
            schema="ragtoy.case/v1",
        )
        for id, (query, relevant) in QUESTIONS.items()
    )
