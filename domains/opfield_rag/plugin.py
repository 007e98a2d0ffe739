"""The toy as a plugin: chunk, index, retrieve and measure as typed operations, and the two plans of them (§36.2–36.4).

The functions are those that the campaign's runner calls; here each has a boundary of its own, so that plans of them
can be read, analyzed and compared before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

import opfield as of
from opfield.plugin import Cost, Effect, Plugin
from opfield_rag.case import CaseInput
from opfield_rag.chunking import chunk_spans
from opfield_rag.gardening import DOCUMENTS
from opfield_rag.laws import misdeclared
from opfield_rag.plans import built_plan, evidence_plan
from opfield_rag.spec import OPTICS, PATCHES, SPEC_SCHEMA, Chunking, Querying, Spec, fields_of
from opfield_rag.toy import Chunk, index_chunk, measure_context, rank_chunks

plugin = Plugin.named("ragtoy", "1", "Retrieval over a corpus that can be read whole.")


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Attributes:
        id: its id.
        text: its text.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is searched.

    Attributes:
        documents: the documents; their order makes no difference.
    """

    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document.

    Attributes:
        document: id of the document.
        ordinal: position among the passages of the document, from 0.
        text: its words, as the document has them.
    """

    document: str
    ordinal: int
    text: str


@dataclass(frozen=True, slots=True)
class Passages:
    """What chunking yields, by document and ordinal."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Indexed:
    """What indexing yields, by document and ordinal."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk with what each channel gave it for one query.

    Attributes:
        document: id of its document.
        ordinal: position among the chunks of the document, from 0.
        words: number of words.
        lexical: share of the query's content words that stand in it.
        vector: cosine of the hashed meanings of query and chunk.
        combined: the weighted sum, by which chunks are ranked.
    """

    document: str
    ordinal: int
    words: int
    lexical: float
    vector: float
    combined: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What retrieval yields.

    Attributes:
        ranking: every chunk, best first.
        context_chunks: how many of them make up the context.
        relevant: grade by document id, as the case has it.
    """

    ranking: tuple[Ranked, ...]
    context_chunks: int
    relevant: dict[str, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a trial measures.

    Attributes:
        metrics: value by metric.
    """

    metrics: dict[str, float | int | None]


GARDENING = Corpus(tuple(Document(id, text) for id, text in sorted(DOCUMENTS.items())))

plugin.schema(SPEC_SCHEMA, Spec, description="One configuration.", examples=(Spec(), Spec(chunk_words=34)))
plugin.schema("ragtoy.corpus/v1", Corpus, description="Documents to search.", examples=(GARDENING,))
plugin.schema("ragtoy.chunks/v1", Passages, description="Passages of a corpus.")
plugin.schema("ragtoy.index/v1", Indexed, description="Passages as both channels see them.")
plugin.schema("ragtoy.case/v1", CaseInput, description="A query and which documents answer it.")
plugin.schema("ragtoy.retrieval/v1", Retrieved, description="The context that was found for a query.")
plugin.schema("ragtoy.trial/v1", Measured, description="The measurements of a trial.")


@plugin.operation(
    "ragtoy.chunk/v1",
    dependencies=("corpus.normalize", "index.chunk"),
    cost=Cost(2, 2, 1 << 19),
    reads=fields_of(Chunking),
)
def chunk(spec: Annotated[Chunking, SPEC_SCHEMA], corpus: Corpus) -> Passages:
    """Cut every document into passages that overlap."""

    def cut() -> Iterator[Passage]:
        for document in sorted(corpus.documents, key=lambda each: each.id):
            words = document.text.split()
            for ordinal, (start, end) in enumerate(chunk_spans(len(words), spec.chunk_words, spec.overlap_words)):
                yield Passage(document.id, ordinal, " ".join(words[start:end]))

    return Passages(tuple(cut()))


@plugin.operation(
    "ragtoy.index/v1",
    effects=(Effect.CPU, Effect.ARTIFACT_WRITE),
    dependencies=("index.lexical", "index.vector"),
    cost=Cost(4, 4, 1 << 20),
)
def index(chunks: Passages) -> Indexed:
    """Give every passage its terms and its vector."""
    return Indexed(tuple(index_chunk(each.document, each.ordinal, each.text.split()) for each in chunks.passages))


@plugin.operation(
    "ragtoy.retrieve/v1",
    effects=(Effect.CPU, Effect.ARTIFACT_READ),
    dependencies=("query.channels", "query.context", "query.fusion"),
    cost=Cost(3, 3),
    reads=fields_of(Querying),
)
def retrieve(index: Indexed, spec: Annotated[Querying, SPEC_SCHEMA], case: CaseInput) -> Retrieved:
    """Score every chunk, and keep the best as the context."""
    ranking = tuple(
        Ranked(each.chunk.document, each.chunk.ordinal, each.chunk.words, each.lexical, each.vector, each.combined)
        for each in rank_chunks(index.chunks, spec, case.query)
    )
    return Retrieved(ranking, len(ranking[: spec.top_k]), dict(case.relevant))


@plugin.operation("ragtoy.measure/v1", dependencies=("eval.retrieval",), cost=Cost(1, 1))
def measure(retrieval: Retrieved) -> Measured:
    """Measure a context against what answers the query."""
    context = [(each.document, each.words) for each in retrieval.ranking[: retrieval.context_chunks]]
    return Measured(measure_context(context, len(retrieval.ranking), retrieval.relevant))


#: Descriptors of the four, by id.
DESCRIPTORS: Final = {each.descriptor.id: each.descriptor for each in plugin.operations}

build = plugin.plan("build", chunk >> index)
query = plugin.plan("query", retrieve >> measure)
#: From a configuration, a corpus and a case to measurements.
trial = plugin.plan("trial", built_plan(build, retrieve) >> query)
#: The same, with the index and the retrieval kept beside the measurements: what a campaign runs.
evidence = plugin.plan("evidence", evidence_plan(build, retrieve, measure))


@plugin.law
def patches_declare_what_they_invalidate() -> Iterator[str]:
    """Check targets and declared closures of the advertised patches against the plan of a trial."""
    return misdeclared(PATCHES, trial, DESCRIPTORS.values(), trial.inputs[1:])


@plugin.law
def lenses_are_lawful() -> Iterator[str]:
    """Try get-put, put-get and put-put of every lens of the space on configurations and values (§30.4)."""
    wholes = [Spec().model_dump(), Spec(chunk_words=9, overlap_words=0, top_k=1).model_dump()]
    for optic in OPTICS.values():
        for breach in of.check_laws(optic, wholes, [0, 1, 3, 9, 0.5, -1, "4", True]):
            yield f"{breach.optic}, {breach.law}: {breach.detail}"
