"""What the shipped statements read stands in `sql/reads.json`, and says what parsing them would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opfield.warehouse import sql_text
from opfield.warehouse.locate import sql_folder
from opfield.warehouse.sql_text import READS, names_read, parsed_names, read_ahead
from scripts.reads import reads_text, statements


def test_the_kept_reads_are_those_of_every_shipped_statement_as_it_is() -> None:
    assert (sql_folder() / READS).read_text(encoding="utf-8") == reads_text(), "run `python -m scripts.reads`"


def test_what_is_shipped_is_not_parsed(monkeypatch: Any) -> None:
    monkeypatch.setattr(sql_text, "_kept", {})
    monkeypatch.setattr(sql_text, "_parse", lambda unknown: pytest.fail(f"parsed {unknown}"))
    read_ahead(statements().values())


def test_a_text_that_was_changed_is_parsed(monkeypatch: Any) -> None:
    monkeypatch.setattr(sql_text, "_kept", {})
    changed = statements()["coverage"] + " -- changed"
    parse = sql_text._parse
    parsed: list[list[str]] = []

    def noted(unknown: list[str]) -> None:
        parsed.append(unknown)
        parse(unknown)

    monkeypatch.setattr(sql_text, "_parse", noted)
    assert names_read(changed) == parsed_names(changed)
    assert parsed == [[changed]]


def test_an_installation_without_the_file_answers_alike(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setattr(sql_text, "_kept", {})
    monkeypatch.setattr(sql_text, "sql_folder", lambda: tmp_path)
    sql_text._shipped.cache_clear()
    try:
        told = json.loads((sql_folder() / READS).read_text(encoding="utf-8"))["coverage"]
        assert names_read(statements()["coverage"]) == (frozenset(told["relations"]), frozenset(told["functions"]))
    finally:
        sql_text._shipped.cache_clear()
