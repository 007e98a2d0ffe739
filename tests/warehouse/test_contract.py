from __future__ import annotations

import pyarrow as pa
import pytest

from opfield.errors import UnknownNameError, WarehouseError
from opfield.warehouse.contract import TABLE_NAMES, arrow_schema, load_contract, projection_query


def test_every_table_and_column_says_what_it_means():
    contract = load_contract()
    assert tuple(contract) == TABLE_NAMES
    for table in contract.values():
        assert table.comment
        assert all(column.comment for column in table.columns), table.name


def test_schemas_come_from_the_contract():
    schema = arrow_schema("cases")
    assert schema.names == [column.name for column in load_contract()["cases"].columns]
    assert schema.field("groups").type == pa.map_(pa.string(), pa.string())
    assert not schema.field("case_id").nullable
    assert schema.field("partition").nullable


def test_the_ledger_and_the_artifacts_are_no_projections():
    contract = load_contract()
    assert [name for name, table in contract.items() if table.projection_sql is None] == ["events", "artifacts"]
    with pytest.raises(WarehouseError, match="no projection"):
        projection_query(contract["events"])
    assert projection_query(contract["cells"]).startswith("with completed as (")


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'cells'"):
        arrow_schema("cell")


def test_a_missing_or_misnamed_contract_file_is_named(tmp_path):
    with pytest.raises(WarehouseError, match=r"missing: .*events\.sql"):
        load_contract(tmp_path)
    (tmp_path / "events.sql").write_text("create table happenings (x integer);")
    with pytest.raises(WarehouseError, match="does not create a table named 'events'"):
        load_contract(tmp_path)
