"""Retrieval measures, and the metrics that the campaigns declare over them.

The definitions are those of trec_eval: gains are linear in the grade, grades of 0 and below are not relevant,
and a relevant document that the corpus lacks stays in the denominator.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import opfield as of

#: Rank down to which the cut-off measures look.
CUTOFF: Final = 10

CONTEXT_METRICS: Final = (
    of.Metric(
        "recall",
        lower=0,
        upper=1,
        on_domain_failure="worst",
        description="share of the relevant documents that the context holds",
    ),
    of.Metric(
        "mrr",
        lower=0,
        upper=1,
        on_domain_failure="worst",
        description="reciprocal rank of the first relevant document; 0 where none was retrieved",
    ),
    of.Metric(
        "hit_rate",
        kind="binary",
        on_domain_failure="worst",
        description="whether the context holds any relevant document",
    ),
    of.Metric(
        "scored_chunks",
        "minimize",
        unit="chunks",
        kind="count",
        description="chunks that a query was scored on",
    ),
    of.Metric("context_words", "minimize", unit="words", kind="count", description="words in the context"),
)

RANKING_METRICS: Final = (
    of.Metric(
        f"ndcg@{CUTOFF}",
        lower=0,
        upper=1,
        on_domain_failure="worst",
        description=f"normalized discounted cumulative gain of the first {CUTOFF} documents, linear gain",
    ),
    of.Metric(
        f"recall@{CUTOFF}",
        lower=0,
        upper=1,
        on_domain_failure="worst",
        description=f"share of the relevant documents among the first {CUTOFF}",
    ),
)


def relevant_documents(grades: Mapping[str, int]) -> frozenset[str]:
    """Return the documents with a grade above 0."""
    return frozenset(document for document, grade in grades.items() if grade > 0)


def recall(found: Collection[str], relevant: Collection[str]) -> float:
    """Return the share of `relevant` (not empty) that is in `found`.

    >>> recall(["a", "a", "x"], {"a", "b"})
    0.5
    """
    return len(set(found) & set(relevant)) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1 over the rank of the first relevant document; 0 where there is none.

    >>> reciprocal_rank(["x", "a"], {"a"}), reciprocal_rank(["x"], {"a"})
    (0.5, 0.0)
    """
    return next((1 / rank for rank, document in enumerate(ranking, start=1) if document in relevant), 0.0)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int = CUTOFF) -> float:
    """Return the normalized discounted cumulative gain of the first `cutoff` documents.

    The gain of a document is its grade, discounted by log2(rank + 1); the ideal orders all judged documents
    by grade (Järvelin and Kekäläinen, 2002; linear gain as in trec_eval).

    >>> ndcg(["a", "b"], {"a": 2, "b": 1}), ndcg(["x"], {"a": 1})
    (1.0, 0.0)
    """
    ideal = _discounted(sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:cutoff])
    found = _discounted([max(grades.get(document, 0), 0) for document in ranking[:cutoff]])
    return found / ideal if ideal else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
