"""The two campaigns of the domain: the toy, and any folder in BEIR layout."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import opfield as of
from opfield_rag.beir import read_collection
from opfield_rag.indexing import load_bm25s
from opfield_rag.measures import CONTEXT_METRICS, RANKING_METRICS
from opfield_rag.passages import PassageRunner
from opfield_rag.planned import run_toy
from opfield_rag.space import rag_space
from opfield_rag.toy import toy_cases

_LOG: Final = logging.getLogger("opfield_rag")

#: Most words that the context may have on average: room for four 24-word chunks and a little more.
CONTEXT_BUDGET: Final = 120


def toy_campaign(repeats: int) -> of.Campaign:
    """Return the toy campaign under the policy of appendix D.8.

    Args:
        repeats: trials of each (candidate, question); the system is deterministic, so they only exercise
            custody.
    """
    return of.Campaign(
        name="rag",
        space=rag_space(),
        workload=of.Workload("gardening", toy_cases()),
        runner=run_toy,
        metrics=CONTEXT_METRICS,
        policy=of.Policy(
            gates=(
                of.coverage(),
                of.failures(arms="both"),
                of.worst_delta("recall"),
                of.mean_delta("recall"),
                of.candidate_mean("context_words", at_most=CONTEXT_BUDGET),
                of.worst_delta("hit_rate"),
            ),
            prefer="recall",
        ),
        repeats=repeats,
    )


def collection_campaign(folder: Path, *, split: str, limit: int | None, repeats: int) -> of.Campaign:
    """Return the campaign over a folder in BEIR layout: the same candidates, judged on ranking and context.

    Args:
        folder: folder of the collection; its name is part of the workload's name, its path is not.
        split: judgments to use, `qrels/<split>.tsv`.
        limit: queries to take, the first ones in file order; None for all.
        repeats: trials of each (candidate, query).

    Raises:
        OpfieldError: where the folder is no collection, or the library for BM25 is not installed.
    """
    load_bm25s()
    collection = read_collection(folder, split, limit)
    for note in collection.notes:
        _LOG.warning("%s: %s", collection.name, note)
    return of.Campaign(
        name=f"rag-{collection.name}",
        space=rag_space(),
        workload=of.Workload(
            collection.name,
            tuple(
                of.Case(
                    query.id,
                    {"query": query.text, "relevant": dict(query.grades), "corpus": collection.corpus},
                    schema="rag.case/v1",
                )
                for query in collection.queries
            ),
        ),
        runner=PassageRunner(str(folder.resolve()), collection.corpus),
        metrics=CONTEXT_METRICS + RANKING_METRICS,
        policy=of.Policy(
            gates=(
                of.coverage(),
                of.failures(arms="both"),
                of.mean_delta("ndcg@10"),
                of.mean_delta("recall@10"),
                of.mean_delta("recall"),
                of.candidate_mean("context_words", at_most=CONTEXT_BUDGET),
            ),
            prefer="ndcg@10",
        ),
        repeats=repeats,
    )


def rag_campaign(
    repeats: int | None = None, data: Path | None = None, limit: int | None = None, split: str = "test"
) -> of.Campaign:
    """Return the toy campaign, or with `data` the one over that folder.

    Args:
        repeats: trials of each (candidate, case); 3 for the toy and 1 for a folder unless given.
        data: folder in BEIR layout.
        limit: queries of the folder to take, the first ones in file order.
        split: judgments of the folder to use.

    Raises:
        OpfieldError: where `limit` is given without `data`, or the folder cannot be used.
    """
    if data is not None:
        return collection_campaign(Path(data), split=split, limit=limit, repeats=1 if repeats is None else repeats)
    if limit is not None:
        raise of.OpfieldError(
            "limit takes the first queries of a folder; give the folder with data, or leave limit out"
        )
    return toy_campaign(3 if repeats is None else repeats)


domain = of.Domain(
    name="rag",
    description="Seven changes to a retrieval system, on a gardening corpus or any folder in BEIR layout.",
    campaign=rag_campaign,
    options=(
        of.Option("repeats", "trials of each (candidate, case); 3, or 1 with data", int),
        of.Option("data", "folder in BEIR layout: corpus.jsonl, queries.jsonl, qrels/<split>.tsv", Path),
        of.Option("limit", "queries of the folder to take, the first ones in file order", int),
        of.Option("split", "judgments of the folder to use", str, "test"),
    ),
)
