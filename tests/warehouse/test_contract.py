from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from opfield.errors import UnknownNameError, WarehouseError
from opfield.warehouse.contract import (
    TABLE_NAMES,
    arrow_schema,
    load_contract,
    load_practice_contract,
    projection_query,
)
from opfield.warehouse.locate import contract_folder


def test_every_table_and_column_says_what_it_means() -> None:
    contract = load_contract()
    assert tuple(contract) == TABLE_NAMES
    for table in contract.values():
        assert table.comment
        assert all(column.comment for column in table.columns), table.name


def test_schemas_come_from_the_contract() -> None:
    schema = arrow_schema("cases")
    assert schema.names == [column.name for column in load_contract()["cases"].columns]
    assert schema.field("groups").type == pa.map_(pa.string(), pa.string())
    assert not schema.field("case_id").nullable
    assert schema.field("partition").nullable


def test_the_ledger_and_the_artifacts_are_no_projections() -> None:
    contract = load_contract()
    assert [name for name, table in contract.items() if table.projection_sql is None] == ["events", "artifacts"]
    with pytest.raises(WarehouseError, match="no projection"):
        projection_query(contract["events"])
    assert projection_query(contract["cells"]).startswith("with completed as (")


def test_an_unknown_table_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'cells'"):
        arrow_schema("cell")


def test_a_missing_or_misnamed_contract_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match=r"missing: .*events\.sql"):
        load_contract(tmp_path)
    (tmp_path / "events.sql").write_text("create table happenings (x integer);")
    with pytest.raises(WarehouseError, match="does not create a table named 'events'"):
        load_contract(tmp_path)


def test_a_comment_on_what_a_file_does_not_create_is_named(tmp_path: Path) -> None:
    (tmp_path / "events.sql").write_text("create table events (x integer); comment on column events.y is 'Why.';")
    with pytest.raises(WarehouseError, match=r"events\.sql comments on 'events\.y'"):
        load_contract(tmp_path)


def test_comments_are_what_the_engine_would_keep() -> None:
    con = duckdb.connect()
    for table in (load_contract() | load_practice_contract()).values():
        for statement in table.ddl:
            con.execute(statement)
        kept = con.execute("select column_name, comment from duckdb_columns() where table_name = ?", [table.name])
        assert dict(kept.fetchall()) == {each.name: each.comment for each in table.columns}
        kept = con.execute("select comment from duckdb_tables() where table_name = ?", [table.name])
        assert kept.fetchall() == [(table.comment,)]


def test_projections_tell_which_events_they_read() -> None:
    assert {name: set(table.event_types) for name, table in load_contract().items()} == {
        "events": set(),
        "cells": {"trial.completed"},
        "measurements": {"trial.completed"},
        "cases": {"campaign.started"},
        "candidates": {"campaign.started", "candidate.registered"},
        "metrics": {"campaign.started"},
        "artifacts": set(),
    }


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("type IN ('a.b', 'c.d') and sequence > 1", {"a.b", "c.d"}),
        ("segment.type='a.b'or(type = 'c.d' and fence > 0)", {"a.b", "c.d"}),
        ("type = 'a.b' or sequence > 1", None),
        ("type <> 'a.b'", None),
        ("campaign_id = 'type = ''a.b'' '", None),
        ("type = campaign_id", None),
    ],
)
def test_event_types_are_read_from_what_the_parser_sees(tmp_path: Path, condition: Any, types: Any) -> None:
    write_contract(tmp_path, f"select metric from segment where {condition}")
    if types is None:
        with pytest.raises(WarehouseError, match=r"metrics\.sql reads segment without naming event types"):
            load_contract(tmp_path)
    else:
        assert load_contract(tmp_path)["metrics"].event_types == types


def test_a_projection_that_reads_no_event_is_named(tmp_path: Path) -> None:
    write_contract(tmp_path, "select 'm' as metric")
    with pytest.raises(WarehouseError, match=r"metrics\.sql reads no segment"):
        load_contract(tmp_path)


def write_contract(folder: Any, projection: Any) -> Any:
    """Copy the contract, with another projection of the metrics."""
    for name in TABLE_NAMES:
        shutil.copy(contract_folder() / f"{name}.sql", folder)
    ddl = (folder / "metrics.sql").read_text(encoding="utf-8").split("insert into")[0]
    (folder / "metrics.sql").write_text(f"{ddl}insert into metrics by name\n{projection};\n", encoding="utf-8")
