"""The toy: retrieval over the gardening corpus, whole and small enough that every artifact can be read (§36).

Everything is text, whole numbers, and single divisions and square roots, so the same specification gives the
same bytes on every platform.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import opfield as of
from opfield_rag.case import build_key, read_case
from opfield_rag.chunking import chunk_spans
from opfield_rag.gardening import DOCUMENTS, MEANINGS, QUESTIONS
from opfield_rag.hashing import SparseVector, cosine, hashed_vector, word_features
from opfield_rag.measures import recall, reciprocal_rank, relevant_documents
from opfield_rag.shelf import Shelf
from opfield_rag.spec import Spec
from opfield_rag.words import content_words

INDEX_SCHEMA: Final = "ragtoy.index/v1"
TRIAL_SCHEMA: Final = "ragtoy.trial/v1"

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

    def as_json(self) -> dict[str, Any]:
        """Return the chunk as the index artifact lists it; the vector as [bucket, value] pairs."""
        return {
            "document": self.document,
            "ordinal": self.ordinal,
            "words": self.words,
            "terms": list(self.terms),
            "vector": [[bucket, value] for bucket, value in self.vector.items()],
        }


@dataclass(frozen=True, slots=True)
class Index:
    """What a build yields.

    Attributes:
        key: identity of what the build read.
        chunks: all chunks, by document and ordinal.
    """

    key: str
    chunks: tuple[Chunk, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the index as it is retained."""
        return {"build_key": self.key, "corpus": CORPUS, "chunks": [chunk.as_json() for chunk in self.chunks]}


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

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the trial artifact lists it."""
        return {
            "document": self.chunk.document,
            "ordinal": self.chunk.ordinal,
            "lexical": self.lexical,
            "vector": self.vector,
            "combined": self.combined,
        }


_SHELF: Final[Shelf[Index]] = Shelf(16)


def meaning_vector(words: list[str]) -> SparseVector:
    """Return the hashed vector of content words, each counted as what it means where that is known."""
    return hashed_vector(feature for word in words for feature in word_features(_MEANING_OF.get(word, word)))


def index_chunk(document: str, ordinal: int, words: list[str]) -> Chunk:
    """Return words of a document as both channels see them."""
    content = content_words(" ".join(words))
    return Chunk(document, ordinal, len(words), tuple(sorted(set(content))), meaning_vector(content))


def build_index(spec: Spec) -> Index:
    """Chunk and index the corpus; reads chunk size and overlap only."""
    chunks = []
    for document in sorted(DOCUMENTS):
        words = DOCUMENTS[document].split()
        for ordinal, (start, end) in enumerate(chunk_spans(len(words), spec.chunk_words, spec.overlap_words)):
            chunks.append(index_chunk(document, ordinal, words[start:end]))
    return Index(build_key("ragtoy/build-key/v1", spec, CORPUS), tuple(chunks))


def find_index(spec: Spec) -> tuple[Index, bool]:
    """Return the index for a specification, and whether this process had built it already."""
    return _SHELF.get(build_key("ragtoy/build-key/v1", spec, CORPUS), lambda: build_index(spec))


def rank_chunks(chunks: Iterable[Chunk], spec: Spec, query: str) -> list[Scored]:
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


def run_toy(trial: of.TrialRequest) -> of.TrialResult:
    """Run one trial: find or build the index, rank, measure the context; keep index and rankings."""
    spec = Spec.model_validate(trial.spec)
    case = read_case(trial, CORPUS)
    index, is_reused = find_index(spec)
    ranking = rank_chunks(index.chunks, spec, case.query)
    context = ranking[: spec.top_k]
    metrics = measure_context(
        [(entry.chunk.document, entry.chunk.words) for entry in context], len(ranking), case.relevant
    )
    # Retained in every trial, which is idempotent: the index must be in the warehouse this trial belongs to.
    index_id = trial.artifacts.put(index.as_json(), schema=INDEX_SCHEMA)
    evidence = {
        "build_key": index.key,
        "index": index_id,
        "query": case.query,
        "ranking": [entry.as_json() for entry in ranking],
        "context_chunks": len(context),
        "metrics": metrics,
    }
    return of.TrialResult(
        metrics=metrics,
        artifact_id=trial.artifacts.put(evidence, schema=TRIAL_SCHEMA),
        observations={"build_reused": is_reused},
    )


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
