"""An example of disclosure: the toy's retrieval with a reranker that is a remote party (§41.2).

What search finds is not yet known to be for the eyes of who asks. An authorization keeps what may be shown, and
certifies it. The two plans differ in where it stands. `opfield plan check` accepts the first and, before anything runs,
refuses the second, whose reranker would see what nobody authorized.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Final

import opfield as of
from opfield.plan import identity
from opfield.plugin import Effect, Plugin
from opfield_rag.plugin import GARDENING, Indexed, chunk, index
from opfield_rag.spec import SPEC_SCHEMA, Querying, Spec, fields_of
from opfield_rag.toy import rank_chunks

#: Class of passages of which nobody has said that they may be shown.
UNAUTHORIZED: Final = "unauthorized"

INDEX_SCHEMA: Final = "ragtoy.index/v1"
SUBJECT_SCHEMA: Final = "ragremote.subject/v1"
CANDIDATES_SCHEMA: Final = "ragremote.candidates/v1"
CERTIFICATE_SCHEMA: Final = "ragremote.certificate/v1"

plugin = Plugin.named("ragremote", "1", "Reranking by a remote party, after an authorization.")


@dataclass(frozen=True, slots=True)
class Subject:
    """Who asks.

    Attributes:
        query: what is asked.
        may_read: ids of the documents that may be shown to them.
    """

    query: str
    may_read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was found.

    Attributes:
        document: id of its document.
        ordinal: position among the passages of the document, from 0.
        terms: its distinct content words, sorted.
        lexical: share of the query's content words that stand in it.
    """

    document: str
    ordinal: int
    terms: tuple[str, ...]
    lexical: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages, best first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What an authorization granted.

    Attributes:
        policy: the rule that it went by.
        granted: identity of the candidates that may be shown.
    """

    policy: str
    granted: str


_NOBODY: Final = Subject("when to prune roses", ())

plugin.schema(SUBJECT_SCHEMA, Subject, description="Who asks, and what they may read.", examples=(_NOBODY,))
plugin.schema(CANDIDATES_SCHEMA, Candidates, description="Passages that were found.", examples=(Candidates(()),))
plugin.schema(
    CERTIFICATE_SCHEMA, Certificate, description="What was granted, and by what.", examples=(Certificate("x", "y"),)
)


@plugin.operation(
    "ragremote.search/v1",
    dependencies=("query.channels", "query.context", "query.fusion"),
    reads=fields_of(Querying),
    emits=(UNAUTHORIZED,),
)
def search(
    index: Annotated[Indexed, INDEX_SCHEMA], spec: Annotated[Querying, SPEC_SCHEMA], subject: Subject
) -> Candidates:
    """Find the best passages, whoever asks."""
    found = rank_chunks(index.chunks, spec, subject.query)[: spec.top_k]
    return Candidates(
        tuple(Passage(each.chunk.document, each.chunk.ordinal, each.chunk.terms, each.lexical) for each in found)
    )


@plugin.operation(
    "ragremote.authorize/v1",
    dependencies=("query.filter",),
    reads=(f"{SUBJECT_SCHEMA}#may_read",),
    clears=(UNAUTHORIZED,),
    certifies=CERTIFICATE_SCHEMA,
)
def authorize(candidates: Candidates, subject: Subject) -> tuple[Candidates, Certificate]:
    """Keep the passages of documents that may be read, and certify them."""
    granted = Candidates(tuple(each for each in candidates.passages if each.document in subject.may_read))
    return granted, Certificate("may_read", _identity_of(granted))


@plugin.operation(
    "ragremote.rerank/v1",
    dependencies=("query.rerank",),
    effects=(Effect.CPU, Effect.NETWORK, Effect.REMOTE_DISCLOSURE),
)
def rerank(candidates: Candidates, certificate: Certificate) -> Candidates:
    """Stand in for a remote reranker: order by exact words alone.

    Raises:
        DomainFailure: where these are not the candidates that were granted.
    """
    if certificate.granted != _identity_of(candidates):
        raise of.DomainFailure("not_authorized", "the certificate grants other candidates than these")
    ordered = sorted(candidates.passages, key=lambda each: (-each.lexical, each.document, each.ordinal))
    return Candidates(tuple(ordered))


def _identity_of(candidates: Candidates) -> str:
    return of.seal(CANDIDATES_SCHEMA, asdict(candidates)).digest


_ASKED: Final = identity((SUBJECT_SCHEMA,))
_GRANTED: Final = identity((CERTIFICATE_SCHEMA,))

#: From index, configuration and subject, and the subject again for whom is authorized: accepted.
authorized_first = plugin.plan("authorized_first", (search @ _ASKED) >> authorize >> rerank)
#: With a certificate from elsewhere: the remote party sees everything that was found before anybody said that it may.
authorized_last = plugin.plan("authorized_last", (search @ _GRANTED @ _ASKED) >> (rerank @ _ASKED) >> authorize)


@plugin.law
def nothing_is_granted_that_may_not_be_read() -> Iterator[str]:
    """Authorize what the toy finds, for subjects who may read nothing, some and all of it."""
    documents = [each.id for each in GARDENING.documents]
    built = index(chunk(Spec(), GARDENING))
    for may_read in ((), tuple(documents[:3]), tuple(documents)):
        subject = Subject("when to prune roses", may_read)
        granted, _ = authorize(search(built, Spec(top_k=len(documents)), subject), subject)
        shown = {each.document for each in granted.passages} - set(may_read)
        if shown:
            yield f"{', '.join(sorted(shown))} was granted to a subject who may not read it"
