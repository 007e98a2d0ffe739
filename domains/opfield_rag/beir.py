"""Reading a test collection in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`.

Each file may be compressed with gzip, its name then ending in `.gz`. What cannot be meant is refused with
file and line; what real collections contain all the same is counted (`Collection.notes`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import opfield as of


class CollectionError(of.OpfieldError):
    """The folder is no collection in BEIR layout. Correct the file and line that the message names."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Attributes:
        id: its id.
        text: title and text, as one.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query of a split that at least one document answers.

    Attributes:
        id: its id.
        text: the query.
        grades: grade by document id; above 0 is relevant.
    """

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus with the judged queries of one split.

    Attributes:
        name: name of the folder and of the split.
        corpus: identity of the documents; their order is no part of it.
        queries: judged queries, in file order.
        notes: what was left out or looks odd, in words, with counts.
    """

    name: str
    corpus: str
    queries: tuple[JudgedQuery, ...]
    notes: tuple[str, ...]


def read_documents(folder: Path) -> tuple[Document, ...]:
    """Return the documents of a collection, ordered by id.

    Raises:
        CollectionError: where the file lacks, is empty, or a line is no document or repeats an id.
    """
    path = _existing(folder, "corpus.jsonl")
    documents = [
        Document(id, f"{_text(path, line, record, 'title')} {_text(path, line, record, 'text')}".strip())
        for line, id, record in _records(path)
    ]
    return tuple(sorted(documents, key=lambda document: document.id))


def corpus_digest(documents: tuple[Document, ...]) -> str:
    """Return the identity of documents that are ordered by id."""
    return of.digest("rag/corpus/v1", *(part for document in documents for part in (document.id, document.text)))


def read_collection(folder: Path, split: str = "test", limit: int | None = None) -> Collection:
    """Return the judged queries of a split, and the identity of the corpus that they are asked of.

    A query without a document of a grade above 0 is left out: recall and nDCG have no value there. A judged
    document that the corpus lacks stays judged, so that figures compare with those of trec_eval over the same
    judgments.

    Args:
        folder: folder of the collection.
        split: name of the judgments, such as test or dev.
        limit: queries to take, the first ones in file order; None for all.

    Raises:
        CollectionError: where a file lacks or is malformed, or no query is left.
    """
    if limit is not None and limit < 1:
        raise CollectionError(f"limit {limit} takes no query; give at least 1")
    documents = read_documents(folder)
    known = {document.id for document in documents}
    grades = _read_judgments(_judgments_path(folder, split))
    path = _existing(folder, "queries.jsonl")
    texts = {id: _text(path, line, record, "text") for line, id, record in _records(path)}
    answered = {id for id, judged in grades.items() if any(grade > 0 for grade in judged.values())}
    queries = tuple(JudgedQuery(id, text, grades[id]) for id, text in texts.items() if id in answered)
    if not queries:
        raise CollectionError(
            f"no query of {path} has a relevant document in qrels/{split}.tsv; is it the right split?"
        )
    counts = (
        (
            sum(id in grades for id in texts) - len(queries),
            "judged queries without a relevant document are left out",
        ),
        (len(grades.keys() - texts.keys()), "judged queries are not in queries.jsonl and are left out"),
        (
            len({document for query in queries for document in query.grades} - known),
            "judged documents are not in corpus.jsonl; they count as never found",
        ),
    )
    return Collection(
        name=f"{folder.resolve().name}/{split}",
        corpus=corpus_digest(documents),
        queries=queries[:limit],
        notes=tuple(f"{count} {what}" for count, what in counts if count),
    )


def _existing(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise CollectionError(
        f"{folder} holds no {name}; a folder in BEIR layout has corpus.jsonl, queries.jsonl and qrels/<split>.tsv"
    )


def _judgments_path(folder: Path, split: str) -> Path:
    try:
        return _existing(folder, f"qrels/{split}.tsv")
    except CollectionError as error:
        splits = sorted({path.name.split(".tsv")[0] for path in folder.glob("qrels/*.tsv*")})
        if not splits:
            raise
        raise CollectionError(f"unknown split {split!r} of {folder}; known: {', '.join(splits)}") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    open_text = gzip.open if path.suffix == ".gz" else open
    try:
        with open_text(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path} cannot be read: {error}") from error


def _records(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield line number, id and object of each line, ids unique."""
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CollectionError(f"{path}, line {number}: not valid JSON: {error}") from None
        if not isinstance(record, dict):
            raise CollectionError(f"{path}, line {number}: expected a JSON object with _id and text")
        id = _text(path, number, record, "_id")
        if not id:
            raise CollectionError(f"{path}, line {number}: _id is missing or empty")
        if id in seen:
            raise CollectionError(f"{path}: id {id!r} stands on line {seen[id]} and again on line {number}")
        seen[id] = number
        yield number, id, record
    if not seen:
        raise CollectionError(f"{path} is empty")


def _text(path: Path, line: int, record: dict[str, Any], member: str) -> str:
    value = record.get(member)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CollectionError(f"{path}, line {line}: {member} is {value!r}, not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CollectionError(f"{path}, line {line}: {member} is not valid Unicode: {error.reason}") from None
    return value


def _read_judgments(path: Path) -> dict[str, dict[str, int]]:
    """Return grade by document id by query id; the header is known by its third field, which is no number."""
    grades: dict[str, dict[str, int]] = {}
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) != 3:
            raise CollectionError(
                f"{path}, line {number}: {len(fields)} fields; "
                "expected query id, document id and grade, with tabs between them"
            )
        query, document, score = fields
        try:
            grade = int(score)
        except ValueError:
            if number == 1:
                continue
            raise CollectionError(f"{path}, line {number}: grade {score!r} is not a whole number") from None
        judged = grades.setdefault(query, {})
        if judged.setdefault(document, grade) != grade:
            first = seen[query, document]
            raise CollectionError(
                f"{path}: document {document!r} is graded for query {query!r} on line {first} "
                f"and otherwise on line {number}"
            )
        seen.setdefault((query, document), number)
    return grades
