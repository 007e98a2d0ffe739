"""Passage retrieval over a collection in BEIR layout: BM25 and hashed vectors over chunks, fused.

Scores are computed by chunk; a document scores as its best chunk does. The lexical channel is BM25 of the
`bm25s` library (Lucene's variant, k1 = 1.2, b = 0.75, no stemming), the vector channel the cosine of hashed
words and trigrams. Each channel is divided by its best score for the query before the weights apply.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

import opfield as of
from opfield.interpret import derive
from opfield.plan import primitive
from opfield.plugin import Effect, OperationDescriptor
from opfield_rag.beir import Document, corpus_digest, read_documents
from opfield_rag.case import check_corpus, read_case
from opfield_rag.chunking import chunk_spans
from opfield_rag.hashing import DIMENSIONS, SparseVector, hashed_vector, word_features
from opfield_rag.measures import CUTOFF, ndcg, recall, reciprocal_rank, relevant_documents
from opfield_rag.shelf import Shelf
from opfield_rag.spec import SPEC_SCHEMA, Spec
from opfield_rag.words import content_words

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

#: Documents that a ranking is kept down to.
DEPTH: Final = 100

BM25: Final = {"method": "lucene", "k1": 1.2, "b": 0.75}

#: What a build is, declared: its matrices live in memory and pass no wire, but what it reads decides what is reused.
CHUNK: Final = OperationDescriptor(
    "rag.chunk/v1", "rag", "1", (SPEC_SCHEMA, "rag.corpus/v1"), ("rag.chunks/v1",),
    dependencies=("index.chunk",),
    reads=(f"{SPEC_SCHEMA}#chunk_words", f"{SPEC_SCHEMA}#overlap_words"),
)  # fmt: skip
INDEX: Final = OperationDescriptor(
    "rag.index/v1", "rag", "1", ("rag.chunks/v1",), ("rag.index/v1",),
    effects=(Effect.CPU, Effect.ARTIFACT_WRITE),
    dependencies=("index.lexical", "index.vector"),
)  # fmt: skip
BUILD: Final = primitive(CHUNK) >> primitive(INDEX)
_BUILD_OPERATIONS: Final = {each.id: each for each in (CHUNK, INDEX)}

INDEX_SCHEMA: Final = "rag.index/v1"
TRIAL_SCHEMA: Final = "rag.trial/v1"


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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Index:
    """What a build yields; chunks are ordered by document id, then position.

    Attributes:
        key: identity of what the build read.
        document_ids: id of each document that has a chunk.
        bounds: first chunk of each of these documents, then the number of chunks.
        sizes: words by chunk.
        bm25: the library's index over the chunks.
        buckets: hashed vectors of the chunks, whole numbers, `DIMENSIONS` × chunks.
        lengths: Euclidean length of each vector.
        description: what is retained of it: what it was built from and by, and digests of what came out.
    """

    key: str
    document_ids: tuple[str, ...]
    bounds: Numbers
    sizes: Numbers
    bm25: Any
    buckets: npt.NDArray[np.int32]
    lengths: Floats
    description: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scores:
    """What each channel gives every chunk for one query, normalized, and the weighted sum."""

    lexical: Floats
    vector: Floats
    combined: Floats


_CORPORA: Final[Shelf[Corpus]] = Shelf(2)
_INDEXES: Final[Shelf[Index]] = Shelf(8)


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


def build_key(spec: Spec, corpus: str) -> str:
    """Return the derivation key of the index: the identity of what a build is and of what it declares to read.

    Args:
        spec: the configuration.
        corpus: identity of the corpus.
    """
    inputs = [of.seal(SPEC_SCHEMA, spec), of.seal("rag.corpus/v1", corpus)]
    return derive(BUILD, _BUILD_OPERATIONS, inputs).keys[-1]


def build_index(corpus: Corpus, spec: Spec, key: str) -> Index:
    """Chunk and index a corpus, under the build key; reads of the configuration what `CHUNK` declares."""
    chunks: list[list[int]] = []
    sizes: list[int] = []
    bounds = [0]
    document_ids: list[str] = []
    for id, words in zip(corpus.ids, corpus.words, strict=True):
        for start, end in chunk_spans(len(words), spec.chunk_words, spec.overlap_words):
            chunks.append([term for word in words[start:end] for term in word])
            sizes.append(end - start)
        if words:
            document_ids.append(id)
            bounds.append(len(chunks))
    bm25 = load_bm25s().BM25(dtype="float64", **BM25)
    bm25.index((chunks, dict(corpus.terms)), show_progress=False)
    buckets = np.empty((DIMENSIONS, len(chunks)), dtype=np.int32)
    lengths = np.empty(len(chunks))
    for position, chunk in enumerate(chunks):
        vector = text_vector(corpus.term_vectors, chunk)
        buckets[:, position] = vector
        lengths[position] = math.sqrt(vector @ vector)
    description = {
        "build_key": key,
        "corpus": corpus.digest,
        "chunk_words": spec.chunk_words,
        "overlap_words": spec.overlap_words,
        "bm25": {**BM25, "library": f"bm25s {importlib.metadata.version('bm25s')}"},
        "dimensions": DIMENSIONS,
        "documents": len(document_ids),
        "chunks": len(chunks),
        "terms": len(corpus.terms),
        "lexical_digest": _digest_of(*(bm25.scores[part] for part in ("data", "indices", "indptr"))),
        "vector_digest": _digest_of(buckets),
    }
    return Index(
        key=key,
        document_ids=tuple(document_ids),
        bounds=np.array(bounds, dtype=np.int64),
        sizes=np.array(sizes, dtype=np.int64),
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


def query_vector(words: Sequence[str]) -> SparseVector:
    """Return the hashed vector of a query, damped as that of a chunk is; a word need not be in the corpus."""
    return hashed_vector(
        (feature, weight * count.bit_length())
        for word, count in Counter(words).items()
        for feature, weight in word_features(word)
    )


def score_chunks(index: Index, corpus: Corpus, spec: Spec, query: str) -> Scores:
    """Score every chunk for a query; each channel lies between 0 and 1, its best chunk at 1."""
    words = content_words(query)
    known = [corpus.terms[word] for word in words if word in corpus.terms]
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


def rank_documents(index: Index, scores: Scores) -> list[dict[str, Any]]:
    """Return the first `DEPTH` documents by their best chunk, ties by id, less those that score nothing."""
    best = np.maximum.reduceat(scores.combined, index.bounds[:-1])
    ranking = []
    for document in np.argsort(-best, kind="stable")[:DEPTH]:
        if best[document] <= 0:
            break
        start, end = index.bounds[document : document + 2]
        ranking.append(_entry(index, scores, int(start + np.argmax(scores.combined[start:end]))))
    return ranking


def rank_context(index: Index, scores: Scores, top_k: int) -> list[dict[str, Any]]:
    """Return the first `top_k` chunks, ties by document id and position, less those that score nothing."""
    first = np.argsort(-scores.combined, kind="stable")[:top_k]
    return [_entry(index, scores, int(chunk)) for chunk in first if scores.combined[chunk] > 0]


def _entry(index: Index, scores: Scores, chunk: int) -> dict[str, Any]:
    document = int(np.searchsorted(index.bounds, chunk, side="right")) - 1
    return {
        "document": index.document_ids[document],
        "ordinal": chunk - int(index.bounds[document]),
        "lexical": float(scores.lexical[chunk]),
        "vector": float(scores.vector[chunk]),
        "combined": float(scores.combined[chunk]),
        "words": int(index.sizes[chunk]),
    }


@dataclass(frozen=True, slots=True)
class PassageRunner:
    """Runs trials over a collection. It travels to workers as a path; each process reads and builds once.

    Attributes:
        folder: folder of the collection.
        corpus: identity of the corpus that the campaign was declared on.
    """

    id: ClassVar[str] = "opfield_rag.passages"
    version: ClassVar[str] = "1"

    folder: str
    corpus: str

    def __call__(self, trial: of.TrialRequest) -> of.TrialResult:
        """Find or build the index, rank, measure, and keep description and rankings as artifacts."""
        spec = Spec.model_validate(trial.spec)
        case = read_case(trial, self.corpus)
        corpus, _ = _CORPORA.get(self.corpus, lambda: load_corpus(Path(self.folder), self.corpus))
        key = build_key(spec, self.corpus)
        index, is_reused = _INDEXES.get(key, lambda: build_index(corpus, spec, key))
        scores = score_chunks(index, corpus, spec, case.query)
        ranking = rank_documents(index, scores)
        context = rank_context(index, scores, spec.top_k)
        relevant = relevant_documents(case.relevant)
        ranked = [entry["document"] for entry in ranking]
        held = {entry["document"] for entry in context}
        metrics: dict[str, float | int | None] = {
            "recall": recall(held, relevant),
            "mrr": reciprocal_rank(ranked, relevant),
            "hit_rate": int(not held.isdisjoint(relevant)),
            "scored_chunks": len(index.sizes),
            "context_words": sum(entry["words"] for entry in context),
            f"ndcg@{CUTOFF}": ndcg(ranked, case.relevant),
            f"recall@{CUTOFF}": recall(ranked[:CUTOFF], relevant),
        }
        evidence = {
            "build_key": key,
            "index": trial.artifacts.put(index.description, schema=INDEX_SCHEMA),
            "query": case.query,
            "ranking": ranking,
            "context": context,
            "metrics": metrics,
        }
        return of.TrialResult(
            metrics=metrics,
            artifact_id=trial.artifacts.put(evidence, schema=TRIAL_SCHEMA),
            observations={"build_reused": is_reused},
        )
