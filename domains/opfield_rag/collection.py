"""Collections as a plugin: chunk, index, retrieve and measure over any corpus in BEIR layout, wired as the toy is.

Corpus, chunks and index pass their wires by description, and stay in memory. The configuration is the toy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Final

from opfield.plugin import Cost, Effect, Plugin
from opfield_rag.case import CaseInput
from opfield_rag.indexing import Chunks, Corpus, Index, chunk_corpus, index_chunks
from opfield_rag.laws import misdeclared
from opfield_rag.material import InMemory
from opfield_rag.measures import CUTOFF, ndcg, recall, reciprocal_rank, relevant_documents
from opfield_rag.plans import built_plan, evidence_plan
from opfield_rag.ranking import Entry, rank_context, rank_documents, score_chunks
from opfield_rag.space import rag_space
from opfield_rag.spec import SPEC_SCHEMA, Chunking, Querying, fields_of

CORPUS_SCHEMA: Final = "rag.corpus/v1"
CHUNKS_SCHEMA: Final = "rag.chunks/v1"
INDEX_SCHEMA: Final = "rag.index/v1"
CASE_SCHEMA: Final = "rag.case/v1"

plugin = Plugin.named("rag", "1", "Passage retrieval over a collection in BEIR layout.")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What retrieval yields.

    Attributes:
        ranking: the first documents, each by its best chunk.
        context: the first chunks, which make up the context.
        scored_chunks: how many chunks were scored.
        relevant: grade by document id, as the case has it.
    """

    ranking: tuple[Entry, ...]
    context: tuple[Entry, ...]
    scored_chunks: int
    relevant: dict[str, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a trial measures.

    Attributes:
        metrics: value by metric.
    """

    metrics: dict[str, float | int | None]


#: What stays in memory says itself what it is.
_DESCRIBED: Final = attrgetter("description")

plugin.schema(CORPUS_SCHEMA, Corpus, codec=InMemory(_DESCRIBED), description="Documents to search.")
plugin.schema(CHUNKS_SCHEMA, Chunks, codec=InMemory(_DESCRIBED), description="Passages of a corpus.")
plugin.schema(INDEX_SCHEMA, Index, codec=InMemory(_DESCRIBED), description="Passages, for two channels.")
plugin.schema(CASE_SCHEMA, CaseInput, description="A query and which documents answer it.")
plugin.schema("rag.retrieval/v1", Retrieved, description="Ranking and context that were found for a query.")
plugin.schema("rag.trial/v1", Measured, description="The measurements of a trial.")


@plugin.operation(
    "rag.chunk/v1",
    dependencies=("corpus.normalize", "index.chunk"),
    cost=Cost(2, 2, 1 << 24),
    reads=fields_of(Chunking),
)
def chunk(spec: Annotated[Chunking, SPEC_SCHEMA], corpus: Corpus) -> Chunks:
    """Cut every document into passages that overlap."""
    return chunk_corpus(corpus, spec)


@plugin.operation(
    "rag.index/v1",
    effects=(Effect.CPU, Effect.ARTIFACT_WRITE),
    dependencies=("index.lexical", "index.vector"),
    cost=Cost(8, 8, 1 << 26),
)
def index(chunks: Chunks) -> Index:
    """Index every passage for both channels."""
    return index_chunks(chunks)


@plugin.operation(
    "rag.retrieve/v1",
    effects=(Effect.CPU, Effect.ARTIFACT_READ),
    dependencies=("query.channels", "query.context", "query.fusion"),
    cost=Cost(1, 1, 1 << 22),
    reads=fields_of(Querying),
)
def retrieve(index: Index, spec: Annotated[Querying, SPEC_SCHEMA], case: CaseInput) -> Retrieved:
    """Score every chunk; keep the first documents as the ranking, and the first chunks as the context."""
    scores = score_chunks(index, spec, case.query)
    return Retrieved(
        tuple(rank_documents(index, scores)),
        tuple(rank_context(index, scores, spec.top_k)),
        len(index.sizes),
        dict(case.relevant),
    )


@plugin.operation("rag.measure/v1", dependencies=("eval.retrieval",), cost=Cost(1, 1))
def measure(retrieval: Retrieved) -> Measured:
    """Measure ranking and context against what answers the query."""
    relevant = relevant_documents(retrieval.relevant)
    ranked = [each.document for each in retrieval.ranking]
    held = {each.document for each in retrieval.context}
    return Measured(
        {
            "recall": recall(held, relevant),
            "mrr": reciprocal_rank(ranked, relevant),
            "hit_rate": int(not held.isdisjoint(relevant)),
            "scored_chunks": retrieval.scored_chunks,
            "context_words": sum(each.words for each in retrieval.context),
            f"ndcg@{CUTOFF}": ndcg(ranked, retrieval.relevant),
            f"recall@{CUTOFF}": recall(ranked[:CUTOFF], relevant),
        }
    )


build = plugin.plan("build", chunk >> index)
query = plugin.plan("query", retrieve >> measure)
#: From a configuration, a corpus and a case to measurements.
trial = plugin.plan("trial", built_plan(build, retrieve) >> query)
#: The same, with the index and the retrieval kept beside the measurements: what a campaign runs.
evidence = plugin.plan("evidence", evidence_plan(build, retrieve, measure))


@plugin.law
def patches_declare_what_they_invalidate() -> Iterator[str]:
    """Check targets and closures of the advertised patches, which the toy's plan gave, against the plan of a trial."""
    operations = [each.descriptor for each in plugin.operations]
    return misdeclared(rag_space().patches(), trial, operations, trial.inputs[1:])
