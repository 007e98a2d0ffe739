"""Reading a BEIR folder: what is counted, what is refused, and where."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import opfield as of
from opfield_rag.beir import CollectionError, corpus_digest, read_collection, read_documents


def rewrite(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")


def test_judged_queries_come_in_file_order_with_their_grades(collection: Path) -> None:
    found = read_collection(collection)
    assert found.name == "small/test"
    assert [(query.id, dict(query.grades)) for query in found.queries] == [
        ("q1", {"d1": 2, "d5": 1, "d2": -1}),
        ("q2", {"d3": 1, "d9": 1}),
        ("q3", {"d2": 1}),
    ]


def test_what_is_left_out_or_odd_is_counted(collection: Path) -> None:
    assert read_collection(collection).notes == (
        "1 judged queries without a relevant document are left out",
        "1 judged queries are not in queries.jsonl and are left out",
        "1 judged documents are not in corpus.jsonl; they count as never found",
    )


def test_limit_takes_the_first_queries(collection: Path) -> None:
    assert [query.id for query in read_collection(collection, limit=2).queries] == ["q1", "q2"]
    with pytest.raises(CollectionError, match="limit 0"):
        read_collection(collection, limit=0)


def test_title_and_text_are_one(collection: Path) -> None:
    texts = {document.id: document.text for document in read_documents(collection)}
    assert texts["d1"] == "Wings lift of a thin wing in supersonic flow"
    assert texts["d2"].startswith("heat")
    assert texts["d4"] == ""


def test_the_order_of_documents_is_no_part_of_the_corpus(collection: Path) -> None:
    before = corpus_digest(read_documents(collection))
    rewrite(collection / "corpus.jsonl", lambda lines: lines[::-1])
    assert corpus_digest(read_documents(collection)) == before
    rewrite(collection / "corpus.jsonl", lambda lines: [lines[0].replace("thin", "thick"), *lines[1:]])
    rewrite(collection / "corpus.jsonl", lambda lines: [line.replace("thin", "thick") for line in lines])
    assert corpus_digest(read_documents(collection)) != before


def test_gzip_a_byte_order_mark_and_blank_lines_are_read(collection: Path) -> None:
    expected = read_collection(collection)
    corpus = collection / "corpus.jsonl"
    with gzip.open(collection / "corpus.jsonl.gz", "wb") as file:
        file.write(corpus.read_bytes())
    corpus.unlink()
    queries = collection / "queries.jsonl"
    queries.write_bytes(b"\xef\xbb\xbf" + queries.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert read_collection(collection) == expected


def test_judgments_without_a_header_lose_no_line(collection: Path) -> None:
    expected = read_collection(collection)
    rewrite(collection / "qrels" / "test.tsv", lambda lines: lines[1:])
    assert read_collection(collection) == expected


@pytest.mark.parametrize(
    ("name", "line", "text", "message"),
    [
        ("corpus.jsonl", 2, "{not json", r"corpus\.jsonl, line 2: not valid JSON"),
        ("corpus.jsonl", 2, "[" * 200_000, r"corpus\.jsonl, line 2: not valid JSON"),
        ("corpus.jsonl", 2, "[1]", r"corpus\.jsonl, line 2: expected a JSON object"),
        ("corpus.jsonl", 2, json.dumps({"text": "no id"}), r"line 2: _id is missing"),
        ("corpus.jsonl", 2, json.dumps({"_id": 7, "text": "x"}), r"line 2: _id is 7, not text"),
        ("corpus.jsonl", 2, json.dumps({"_id": "x", "text": 7}), r"line 2: text is 7, not text"),
        ("corpus.jsonl", 2, '{"_id": "x", "text": "\\ud800"}', r"line 2: text is not valid Unicode"),
        (
            "corpus.jsonl",
            3,
            json.dumps({"_id": "d1", "text": "x"}),
            r"id 'd1' stands on line 1 and again on line 3",
        ),
        (
            "queries.jsonl",
            3,
            json.dumps({"_id": "q1", "text": "x"}),
            r"id 'q1' stands on line 1 and again on line 3",
        ),
        ("qrels/test.tsv", 3, "q1 d1 1", r"test\.tsv, line 3: 1 fields"),
        ("qrels/test.tsv", 3, "q1\t0\td1\t1", r"test\.tsv, line 3: 4 fields"),
        ("qrels/test.tsv", 3, "q1\td7\t1.5", r"line 3: grade '1\.5' is not a whole number"),
        (
            "qrels/test.tsv",
            3,
            "q1\td1\t1",
            r"document 'd1' is graded for query 'q1' on line 2 and otherwise on line 3",
        ),
    ],
)
def test_malformed_lines_are_refused_with_file_and_line(
    collection: Path, name: str, line: int, text: str, message: str
) -> None:
    rewrite(collection / name, lambda lines: [*lines[: line - 1], text, *lines[line:]])
    with pytest.raises(CollectionError, match=message):
        read_collection(collection)


def test_a_repeated_equal_judgment_is_harmless(collection: Path) -> None:
    expected = read_collection(collection)
    rewrite(collection / "qrels" / "test.tsv", lambda lines: [*lines, lines[1]])
    assert read_collection(collection) == expected


def test_an_unknown_split_lists_the_known_ones(collection: Path) -> None:
    with pytest.raises(CollectionError, match=r"unknown split 'dev' of .*; known: test"):
        read_collection(collection, "dev")


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(collection: Path, name: str) -> None:
    (collection / name).unlink()
    with pytest.raises(CollectionError, match=f"holds no {name}"):
        read_collection(collection)


def test_a_truncated_gzip_file_is_named(collection: Path) -> None:
    corpus = collection / "corpus.jsonl"
    whole = gzip.compress(corpus.read_bytes())
    (collection / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    corpus.unlink()
    with pytest.raises(CollectionError, match=r"corpus\.jsonl\.gz cannot be read"):
        read_collection(collection)


def test_a_split_that_answers_nothing_is_refused(collection: Path) -> None:
    rewrite(collection / "qrels" / "test.tsv", lambda lines: [lines[0], "q1\td1\t0"])
    with pytest.raises(CollectionError, match="no query"):
        read_collection(collection)


def test_the_error_is_one_of_ours() -> None:
    assert issubclass(CollectionError, of.OpfieldError)
