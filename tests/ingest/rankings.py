"""Runs and judgments made up by code, in the forms that retrieval tools write, and measures by the textbook."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

Judged = Mapping[str, Mapping[str, int]]
Returned = Mapping[str, Mapping[str, float]]


def random_results(seed: int, queries: int = 12, documents: int = 30) -> tuple[dict[str, dict[str, int]], Returned]:
    """Return judgments and a run with ties, queries without results, and queries without judgments."""
    dice = random.Random(seed)
    pool = [f"d{number:03}" for number in range(documents)]
    judged = {
        f"q{number}": {one: dice.choice((0, 0, 1, 2, 3)) for one in dice.sample(pool, dice.randint(1, 12))}
        for number in range(queries)
    }
    returned = {
        # Quarters are exact in 32 bits too, and few enough to tie.
        query: {one: dice.randint(-4, 12) / 4 for one in dice.sample(pool, dice.randint(1, documents))}
        for query in [*judged, "unjudged"]
        if dice.random() < 0.85
    }
    returned.setdefault("q0", {"d000": 1.0})
    return judged, returned


def write_run(path: Path, returned: Returned, tag: str = "made-up") -> Path:
    """Write a run as TREC lines, in the order of the mapping."""
    rows = [
        f"{query} Q0 {document} {rank} {score} {tag}"
        for query, scores in returned.items()
        for rank, (document, score) in enumerate(sorted(scores.items(), key=lambda pair: -pair[1]), start=1)
    ]
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def write_qrels(path: Path, judged: Judged) -> Path:
    """Write judgments as TREC lines."""
    rows = [f"{query} 0 {document} {grade}" for query, of in judged.items() for document, grade in of.items()]
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return documents best first; trec_eval breaks ties by document id, from the end of the alphabet."""
    return [document for document, _ in sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)]


def ndcg(judged: Mapping[str, int], scores: Mapping[str, float], depth: int = 10) -> float:
    """Return the discounted gain of a ranking over that of the best one."""

    def gain(grades: list[int]) -> float:
        return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades[:depth], start=1))

    best = gain(sorted(judged.values(), reverse=True))
    return gain([judged.get(document, 0) for document in ranked(scores)]) / best if best else 0.0


def reciprocal_rank(judged: Mapping[str, int], scores: Mapping[str, float]) -> float:
    """Return 1 over the rank of the first relevant document."""
    return next((1 / rank for rank, one in enumerate(ranked(scores), start=1) if judged.get(one, 0) > 0), 0.0)


def precision(judged: Mapping[str, int], scores: Mapping[str, float], depth: int = 5) -> float:
    """Return the share of relevant documents among the first few."""
    return sum(judged.get(one, 0) > 0 for one in ranked(scores)[:depth]) / depth


def recall(judged: Mapping[str, int], scores: Mapping[str, float], depth: int = 5) -> float:
    """Return the share of relevant documents that are among the first few."""
    relevant = sum(grade > 0 for grade in judged.values())
    return precision(judged, scores, depth) * depth / relevant if relevant else 0.0


def average_precision(judged: Mapping[str, int], scores: Mapping[str, float]) -> float:
    """Return the mean over relevant documents of the precision where each was found."""
    relevant, hits, total = sum(grade > 0 for grade in judged.values()), 0, 0.0
    for rank, document in enumerate(ranked(scores), start=1):
        if judged.get(document, 0) > 0:
            hits += 1
            total += hits / rank
    return total / relevant if relevant else 0.0


TEXTBOOK: dict[str, Callable[[Mapping[str, int], Mapping[str, float]], float]] = {
    "nDCG@10": ndcg,
    "RR": reciprocal_rank,
    "P@5": precision,
    "R@5": recall,
    "AP": average_precision,
}
