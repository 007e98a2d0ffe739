from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
from hypothesis import example, given
from hypothesis import strategies as st

from opfield.export.files import export_file
from opfield.export.wide import COORDINATES, column_names_of
from opfield.export.writers import METRIC_KEY, Form
from opfield.warehouse.session import Warehouse
from tests.export.odd import FORMULA, METRICS
from tests.sql.build import Campaign, Metric, Trial, write_campaign, write_empty

ODD = ("a", "A", "a #2", "A #2", "status", "STATUS", "status #2", " ", "", "ß", "ss", "x")


@example(["STATUS", "status #2"])
@given(st.lists(st.sampled_from(ODD) | st.text()))
def test_every_metric_has_a_column_of_its_own_whatever_a_reader_makes_of_capitals(metrics: list[str]) -> None:
    named = column_names_of(metrics)
    assert sorted(named.values()) == sorted(set(metrics))
    assert len({*map(str.casefold, named), *COORDINATES}) == len(named) + len(COORDINATES)
    assert all(column.strip() for column in named)
    assert column_names_of(reversed(metrics)) == named


def wide_of(root: Path, tmp_path: Path) -> pa.Table:
    path = tmp_path / "wide.parquet"
    export_file(Warehouse(root, is_snapshot=True), ["wide"], path, Form("parquet"))
    return pa.parquet.read_table(path)


def test_metrics_stand_side_by_side_with_what_failed(odd_root: Path, tmp_path: Path) -> None:
    table = wide_of(odd_root, tmp_path)
    columns = {field.metadata[METRIC_KEY].decode(): field.name for field in table.schema if field.metadata}
    assert set(columns) == set(METRICS)
    assert columns | {"score": "score #2", "status": "status #2"} == columns
    rows: list[dict[str, Any]] = table.to_pylist()
    assert [(row["label"], row["case_id"], row["repeat"], row["status"]) for row in rows if row["case_id"] != "a"] == [
        (label, case, repeat, "domain_failure" if (label, case) == (FORMULA, "b") else "success")
        for label in sorted({row["label"] for row in rows}, key=[row["label"] for row in rows].index)
        for case in ("b", "c")
        for repeat in (0, 1)
    ]
    for row in rows:
        is_failed = row["status"] != "success"
        for ix, metric in enumerate(METRICS):
            is_missing = is_failed or (metric, row["case_id"]) == ("score", "c")
            gain = 1 if row["arm"] == "baseline" else 2
            assert row[columns[metric]] == (None if is_missing else gain / (3 + ix))


def test_what_a_failure_is_worth_stands_beside_what_was_measured(tmp_path: Path) -> None:
    root = write_empty(tmp_path / "warehouse")
    metrics = [
        Metric("m", lower=0, upper=1, on_domain_failure="worst"),
        Metric("n", on_domain_failure="-3"),
        Metric("k"),
    ]
    values = {"m": 0.5, "n": 2.0, "k": 1.0}
    trials = [
        Trial("base", "a", 0, values),
        Trial("c1", "a", 0, status="domain_failure"),
        Trial("base", "b", 0, values),
    ]
    broken = Trial("c1", "b", 0, status="infrastructure_failure")
    with duckdb.connect() as con:
        write_campaign(con, root, Campaign({"a": {}, "b": {}}, metrics, [*trials, broken]), 1_000)
    rows = wide_of(root, tmp_path).to_pylist()
    columns = ["k", "m", "m counted", "n", "n counted"]
    assert [name for name in rows[0] if name not in COORDINATES] == columns
    assert [(row["candidate_id"], row["case_id"], *(row[each] for each in columns)) for row in rows] == [
        ("base", "a", 1.0, 0.5, 0.5, 2.0, 2.0),
        ("base", "b", 1.0, 0.5, 0.5, 2.0, 2.0),
        ("c1", "a", None, None, 0.0, None, -3.0),
        ("c1", "b", None, None, None, None, None),  # no evidence about quality
    ]
    with duckdb.connect() as con:
        counted = con.sql(
            f"select avg(\"m counted\") from '{tmp_path}/wide.parquet' where arm = 'candidate'"
        ).fetchall()
    found = Warehouse(root, is_snapshot=True).rows("select candidate_mean from comparisons where metric = 'm'")
    assert counted == [(found[0]["candidate_mean"],)]


def test_a_pending_coordinate_and_a_doubled_cell_are_rows_without_values(tmp_path: Path) -> None:
    root = write_empty(tmp_path / "warehouse")
    con = duckdb.connect()
    trials = [Trial("base", "a", 0, {"m": 0.5}), Trial("base", "a", 0, {"m": 0.25}), Trial("c1", "a", 0, {"m": 0.75})]
    write_campaign(con, root, Campaign({"a": {}, "b": {}}, [Metric("m")], trials), 1_000)
    con.close()
    rows = wide_of(root, tmp_path).to_pylist()
    assert [(row["candidate_id"], row["case_id"], row["cells"], row["status"], row["m"]) for row in rows] == [
        ("base", "a", 2, None, None),
        ("base", "b", 0, None, None),
        ("c1", "a", 1, "success", 0.75),
        ("c1", "b", 0, None, None),
    ]
