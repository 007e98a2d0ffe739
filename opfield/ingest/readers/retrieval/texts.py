"""Texts of queries, which become the inputs of cases."""

from __future__ import annotations

from collections.abc import Mapping

from opfield.ingest import files
from opfield.ingest.readers.retrieval.refusals import shown
from opfield.ingest.records import IngestError, Source

_ID = ("_id", "id", "query_id", "qid", "query-id")
_TEXT = ("text", "query", "title", "question")


def read_texts(source: Source, advance: files.Advance = lambda _bytes: None) -> dict[str, str]:
    """Return the text of each query of a file: a line of JSON each, or an id, a tab and the text.

    Raises:
        IngestError: where a line is neither, or a query has two texts.
    """
    found: dict[str, str] = {}
    for number, line in files.lines(source, advance):
        place = f"{source.name}: line {number}"
        query, text = _of_json(line, place) if line.startswith(b"{") else _of_columns(line, place)
        if found.setdefault(query, text) != text:
            raise IngestError(f"{place}: query {shown(query)} has another text than before; keep the one that is meant")
    return found


def _of_json(line: bytes, place: str) -> tuple[str, str]:
    row = files.json_value(line, place)
    if isinstance(row, Mapping):
        query = next((row[name] for name in _ID if name in row), None)
        text = next((row[name] for name in _TEXT if name in row), None)
        if isinstance(query, str | int) and not isinstance(query, bool) and isinstance(text, str):
            return str(query), text
    raise IngestError(f"{place} has no id and text of a query; write {{'_id': …, 'text': …}}")


def _of_columns(line: bytes, place: str) -> tuple[str, str]:
    try:
        query, tab, text = line.decode("utf-8").partition("\t")
    except UnicodeDecodeError as error:
        raise IngestError(f"{place}: byte {error.start} is not UTF-8; write the file again as UTF-8") from None
    if not tab:
        raise IngestError(f"{place} has no tab; write the id of the query, a tab and its text")
    return query.strip(), text.strip()
