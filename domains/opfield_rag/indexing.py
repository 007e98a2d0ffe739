"""Building: a corpus that is tokenized once, cut into chunks, and indexed for two channels.

The lexical channel is BM25 of the `bm25s` library (Lucene's variant, k1 = 1.2, b = 0.75, no stemming), the vector
channel hashed words and trigrams. What is made here stays in memory; its description says by digests what it is.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import opfield as of
from opfield_rag.beir import Document, corpus_digest, read_documents
from opfield_rag.case import check_corpus
from opfield_rag.chunking import chunk_spans
from opfield_rag.hashing import DIMENSIONS, hashed_vector, word_features
from opfield_rag.spec import Chunking
from opfield_rag.words import content_words

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

BM25: Final = {"method": "lucene", "k1": 1.2, "b": 0.75}


def load_bm25s() -> Any:
    """Return the module `bm25s`.

    Raises:
        OpfieldError: with the remedy, where it is not installed.
    """
    try:
        return importlib.import_module("bm25s")
    except ImportError as error:
        raise of.OpfieldError(
            f"running on a collection needs the library bm25s ({error}); pip install 'opfield[rag]'"
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Documents, tokenized once for every way of chunking them.

    Attributes:
        digest: identity of the documents.
        ids: document ids, ascending.
        words: what each document's words say, in order: numbers of terms by word.
        terms: number by content word.
        term_vectors: hashed vector of each term, whole numbers, terms × `DIMENSIONS`.
    """

    digest: str
    ids: tuple[str, ...]
    words: tuple[tuple[tuple[int, ...], ...], ...]
    terms: dict[str, int]
    term_vectors: npt.NDArray[np.int16]

    @property
    def description(self) -> dict[str, Any]:
        """What it is."""
        return {"digest": self.digest}


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """What chunking yields; chunks are ordered by document id, then position.

    Attributes:
        corpus: what was cut.
        document_ids: id of each document that has a chunk.
        bounds: first chunk of each of these documents, then the number of chunks.
        sizes: words by chunk.
        terms: numbers of the terms of each chunk, in order.
        description: what it was made from and by, and a digest of what came out.
    """

    corpus: Corpus
    document_ids: tuple[str, ...]
    bounds: Numbers
    sizes: Numbers
    terms: list[list[int]]
    description: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """What a build yields; chunks are ordered by document id, then position.

    Attributes:
        document_ids: id of each document that has a chunk.
        bounds: first chunk of each of these documents, then the number of chunks.
        sizes: words by chunk.
        terms: number by content word.
        bm25: the library's index over the chunks.
        buckets: hashed vectors of the chunks, whole numbers, `DIMENSIONS` × chunks.
        lengths: Euclidean length of each vector.
        description: what is retained of it: what it was built from and by, and digests of what came out.
    """

    document_ids: tuple[str, ...]
    bounds: Numbers
    sizes: Numbers
    terms: dict[str, int]
    bm25: Any
    buckets: npt.NDArray[np.int32]
    lengths: Floats
    description: dict[str, Any]


def prepare_corpus(documents: tuple[Document, ...]) -> Corpus:
    """Tokenize documents that are ordered by id.

    Raises:
        OpfieldError: where no document has a content word.
    """
    terms: dict[str, int] = {}
    numbers_of: dict[str, tuple[int, ...]] = {}

    def numbers(word: str) -> tuple[int, ...]:
        if word not in numbers_of:
            numbers_of[word] = tuple(terms.setdefault(term, len(terms)) for term in content_words(word))
        return numbers_of[word]

    words = tuple(tuple(numbers(word) for word in document.text.split()) for document in documents)
    if not terms:
        raise of.OpfieldError("no document of the corpus has a single content word; there is nothing to search in")
    term_vectors = np.zeros((len(terms), DIMENSIONS), dtype=np.int16)
    for term, number in terms.items():
        for bucket, value in hashed_vector(word_features(term)).items():
            term_vectors[number, bucket] = value
    ids = tuple(document.id for document in documents)
    return Corpus(corpus_digest(documents), ids, words, terms, term_vectors)


def load_corpus(folder: Path, digest: str) -> Corpus:
    """Read and tokenize the documents of a collection.

    Raises:
        InfrastructureFailure: where they are not those of `digest`.
    """
    corpus = prepare_corpus(read_documents(folder))
    check_corpus(corpus.digest, digest)
    return corpus


def chunk_corpus(corpus: Corpus, how: Chunking) -> Chunks:
    """Cut every document of a corpus into passages that overlap."""
    terms: list[list[int]] = []
    sizes: list[int] = []
    bounds = [0]
    document_ids: list[str] = []
    for id, words in zip(corpus.ids, corpus.words, strict=True):
        for start, end in chunk_spans(len(words), how.chunk_words, how.overlap_words):
            terms.append([term for word in words[start:end] for term in word])
            sizes.append(end - start)
        if words:
            document_ids.append(id)
            bounds.append(len(terms))
    flat = np.fromiter((term for chunk in terms for term in chunk), dtype=np.int64)
    counts = np.array([len(chunk) for chunk in terms], dtype=np.int64)
    layout = (np.array(bounds, dtype=np.int64), np.array(sizes, dtype=np.int64))
    description = {
        "corpus": corpus.digest,
        **{name: getattr(how, name) for name in Chunking.model_fields},
        "documents": len(document_ids),
        "chunks": len(terms),
        "chunks_digest": _digest_of(*layout, counts, flat),
    }
    return Chunks(corpus, tuple(document_ids), *layout, terms, description)


def index_chunks(chunks: Chunks) -> Index:
    """Index chunks for both channels."""
    bm25 = load_bm25s().BM25(dtype="float64", **BM25)
    bm25.index((chunks.terms, dict(chunks.corpus.terms)), show_progress=False)
    buckets = np.empty((DIMENSIONS, len(chunks.terms)), dtype=np.int32)
    lengths = np.empty(len(chunks.terms))
    for position, chunk in enumerate(chunks.terms):
        vector = text_vector(chunks.corpus.term_vectors, chunk)
        buckets[:, position] = vector
        lengths[position] = math.sqrt(vector @ vector)
    description = {
        **chunks.description,
        "bm25": {**BM25, "library": f"bm25s {importlib.metadata.version('bm25s')}"},
        "dimensions": DIMENSIONS,
        "terms": len(chunks.corpus.terms),
        "lexical_digest": _digest_of(*(bm25.scores[part] for part in ("data", "indices", "indptr"))),
        "vector_digest": _digest_of(buckets),
    }
    return Index(
        document_ids=chunks.document_ids,
        bounds=chunks.bounds,
        sizes=chunks.sizes,
        terms=chunks.corpus.terms,
        bm25=bm25,
        buckets=buckets,
        lengths=lengths,
        description=description,
    )


def _digest_of(*arrays: npt.NDArray[Any]) -> str:
    return of.digest("rag/array/v1", *(np.ascontiguousarray(array).tobytes() for array in arrays))


def text_vector(term_vectors: npt.NDArray[np.int16], terms: Sequence[int]) -> Numbers:
    """Return the hashed vector of a text: each term's once, and once more for every doubling of its count."""
    distinct, counts = np.unique(np.array(terms, dtype=np.int64), return_counts=True)
    # The exponent of a count is its bit length, 1 + ⌊log2(count)⌋: whole numbers again.
    return np.frexp(counts)[1].astype(np.int64) @ term_vectors[distinct]
