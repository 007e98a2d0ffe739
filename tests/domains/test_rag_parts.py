"""Chunking, hashing, words, measures and the shelf."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield_rag.chunking import chunk_spans
from opfield_rag.hashing import DIMENSIONS, bucket_of, cosine, hashed_vector, word_features
from opfield_rag.measures import ndcg, recall, reciprocal_rank, relevant_documents
from opfield_rag.shelf import Shelf
from opfield_rag.words import content_words

identifiers = st.sampled_from([f"d{n}" for n in range(15)])


@given(words=st.integers(0, 300), overlap=st.integers(0, 30), more=st.integers(1, 40))
def test_chunks_cover_every_word_and_overlap_as_declared(words: int, overlap: int, more: int) -> None:
    size = overlap + more
    spans = list(chunk_spans(words, size, overlap))
    assert sorted({word for start, end in spans for word in range(start, end)}) == list(range(words))
    assert all(end - start == size for start, end in spans[:-1])
    assert all(left[1] - right[0] == overlap for left, right in pairwise(spans))
    assert [end for _, end in spans].count(words) == (1 if words else 0)


def test_hashing_is_the_same_everywhere() -> None:
    assert [bucket_of(word) for word in ("rose", "<ro", "lawn", "größe")] == [
        (218, 1),
        (242, 1),
        (25, -1),
        (233, 1),
    ]


def test_inflected_forms_are_nearer_than_other_words() -> None:
    rose, roses, frost = (hashed_vector(word_features(word)) for word in ("rose", "roses", "frost"))
    assert cosine(rose, roses) > 0.1 > abs(cosine(rose, frost))


def test_a_vector_has_ascending_buckets_and_no_zeros() -> None:
    vector = hashed_vector([("a", 1), ("b", 2), ("a", -1)])
    assert list(vector.values()) in ([2], [-2])
    assert all(0 <= bucket < DIMENSIONS for bucket in vector)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How deep, then, do Tulip-bulbs go?", ["deep", "tulip", "bulbs", "go"]),
        ("naïve Größe x 42", ["naïve", "größe", "42"]),
        ("the of and", []),
        ("", []),
    ],
)
def test_content_words(text: str, expected: list[str]) -> None:
    assert content_words(text) == expected


@given(
    ranking=st.lists(identifiers, unique=True, max_size=15),
    grades=st.dictionaries(identifiers, st.integers(-1, 3), min_size=1),
)
def test_measures_equal_those_of_ir_measures(ranking: list[str], grades: dict[str, int]) -> None:
    relevant = relevant_documents(grades)
    if not relevant:
        return
    run = {"q": {document: float(-rank) for rank, document in enumerate(ranking)}}
    wanted = [ir_measures.nDCG @ 10, ir_measures.R @ 10, ir_measures.RR]
    theirs = ir_measures.calc_aggregate(wanted, {"q": grades}, run) if ranking else dict.fromkeys(wanted, 0.0)
    assert ndcg(ranking, grades) == pytest.approx(theirs[wanted[0]], abs=1e-9)
    assert recall(ranking[:10], relevant) == pytest.approx(theirs[wanted[1]], abs=1e-9)
    assert reciprocal_rank(ranking, relevant) == pytest.approx(theirs[wanted[2]], abs=1e-9)


def test_the_shelf_builds_once_for_all_threads() -> None:
    shelf: Shelf[int] = Shelf(2)
    built = []

    def build() -> int:
        time.sleep(0.02)
        built.append(1)
        return 7

    found: list[tuple[int, bool]] = []
    threads = [threading.Thread(target=lambda: found.append(shelf.get("k", build))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]
    assert sorted(found) == [(7, False)] + [(7, True)] * 5


def test_the_shelf_is_bounded_and_drops_what_was_used_longest_ago() -> None:
    shelf: Shelf[str] = Shelf(2)
    for key in ("a", "b", "a", "c"):
        shelf.get(key, lambda key=key: key)  # type: ignore[misc]
    assert [shelf.get(key, lambda: "new")[1] for key in ("c", "a", "b")] == [True, True, False]


def test_a_failed_build_is_tried_again() -> None:
    shelf: Shelf[int] = Shelf(1)
    with pytest.raises(ZeroDivisionError):
        shelf.get("k", lambda: 1 // 0)
    assert shelf.get("k", lambda: 3) == (3, False)
