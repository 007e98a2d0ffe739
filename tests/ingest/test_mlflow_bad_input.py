"""File stores, tables and databases that are damaged, foreign or lead elsewhere: place and remedy are named."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.ingest.readers.mlflow import reader
from opfield.ingest.readers.mlflow_yaml import flat_yaml
from opfield.ingest.records import IngestError, Refused, Sample, System
from tests.ingest.mlflow_stores import experiment, run, table
from tests.ingest.reading import only, read

GOOD = {"acc": "1 0.5 0\n"}


def _store(tmp_path: Path) -> tuple[Path, Path]:
    folder = run(experiment(tmp_path / "mlruns", "1", "tuning"), "a1", metrics=GOOD)
    return tmp_path / "mlruns", folder


def test_a_run_without_its_meta_file_is_refused_by_its_folder(tmp_path: Path) -> None:
    store, folder = _store(tmp_path)
    (folder / "meta.yaml").unlink()
    (refused,) = only(Refused, read(reader, store))
    assert (refused.place, refused.remedy) == ("mlruns/1/a1", "restore it, or move the folder out of the store")


@pytest.mark.parametrize("status", ["0", "6", "99", "done", "''", "null", "-1", "²"])
def test_a_status_that_mlflow_does_not_have_is_refused(tmp_path: Path, status: str) -> None:
    store, folder = _store(tmp_path)
    text = (folder / "meta.yaml").read_text().replace("status: 3", f"status: {status}")
    (folder / "meta.yaml").write_text(text)
    records = read(reader, store)
    assert [each.place for each in only(Refused, records)] == ["mlruns/1/a1/meta.yaml"]
    assert not only(System, records)


@pytest.mark.parametrize("line", ["1", "1 2 3 4", "x 0.5 0", "1 y 0", "1 0.5 z", "\0", "1,0.5,0", "1 0.5 0 a b c"])
def test_a_line_of_a_metric_that_is_no_point_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    store, folder = _store(tmp_path)
    (folder / "metrics/acc").write_text(f"1 0.5 0\n{line}\n")
    assert [each.place for each in only(Refused, read(reader, store))] == ["mlruns/1/a1/metrics/acc: line 2"]


@pytest.mark.parametrize("inside", ["metrics/x", "params/x", "tags/x", "artifacts/eval_results_table.json"])
@pytest.mark.parametrize("target", ["secret", "loop", "gone"])
def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path, inside: str, target: str) -> None:
    store, folder = _store(tmp_path)
    (tmp_path / "secret").write_text("1 42 0\n")
    (folder / inside).parent.mkdir(exist_ok=True)
    (folder / inside).symlink_to(folder / inside if target == "loop" else tmp_path / target)
    records = read(reader, store)
    if inside.startswith("artifacts") and target != "secret":  # a link to nothing is no table
        assert not only(Refused, records)
    else:
        assert [each.place for each in only(Refused, records)] == [f"mlruns/1/a1/{inside}"]
    assert "42" not in str([each.content for each in only(Sample, records)])


def test_linked_folders_are_not_followed(tmp_path: Path) -> None:
    store, folder = _store(tmp_path)
    other = run(experiment(tmp_path / "elsewhere", "1", "other"), "b1", metrics=GOOD)
    (store / "1/linked").symlink_to(other)
    (store / "2").symlink_to(other.parent)
    (folder / "params").symlink_to(other / "metrics")
    (folder / "metrics/deep").symlink_to(other / "metrics")
    records = read(reader, store)
    assert sorted(each.place for each in only(Refused, records)) == [
        "mlruns/1/a1/metrics/deep", "mlruns/1/a1/params", "mlruns/1/linked", "mlruns/2",
    ]  # fmt: skip
    assert [system.key for system in only(System, records)] == ["a1"]


@pytest.mark.parametrize("name", ["../../secret.json", "/etc/secret.json", "a/../../../x"])
def test_a_table_outside_the_artifacts_is_refused(tmp_path: Path, name: str) -> None:
    store, _ = _store(tmp_path)
    (refused,) = only(Refused, read(reader, store, table=name))
    assert refused.reason == f"table {name!r} leads out of the artifacts"


@pytest.mark.parametrize(
    ("columns", "rows", "said"),
    [
        (["a/score"], [[1]], "no column 'inputs'"),
        (["inputs", "b"], [["x", 1]], "no column is a score"),
        (["inputs", "a/score"], [], "has no rows"),
        (["inputs", "a/score"], [["x"]], "1 values for 2 columns"),
        (["inputs", "a/score"], [{"inputs": "x"}], "dict for 2 columns"),
        (["inputs", "a/score"], [["x", "high"]], "'high', which is no number"),
        (["inputs", "a/score"], [["", 1]], "inputs are empty"),
        (["inputs", "a/score"], [[None, 1]], "inputs are empty"),
        (["inputs", "x" * 300 + "/score"], [["x", 1]], "a metric's name"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path, columns: Any, rows: Any, said: str) -> None:
    path = table(tmp_path / "eval_results_table.json", columns, rows)
    (refused,) = only(Refused, read(reader, path))
    assert said in refused.reason
    assert refused.place.startswith("eval_results_table.json")


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "1", "{}", '{"columns": 3, "data": []}'),
        *(
            '{"columns": ["a", "a"], "data": []}',
            '{"columns": [[]], "data": []}',
            '{"columns": ["inputs"], "data": {}}',
        ),
    ],
)
def test_what_is_no_table_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(IngestError, match=r"t\.json"):
        read(reader, tmp_path / "t.json")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"just words\n", b"run_id: 'open\n", b"run_id: a\nrun_id: b\n"])
def test_a_meta_file_that_cannot_be_read_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    store, folder = _store(tmp_path)
    (folder / "meta.yaml").write_bytes(content)
    told = ""
    try:
        told = " ".join(each.place for each in only(Refused, read(reader, store)))
    except IngestError as error:
        told = str(error)
    assert "mlruns/1/a1/meta.yaml" in told
    with pytest.raises(IngestError, match="a1"):
        read(reader, folder)


def test_a_database_of_another_tool_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute("create table songs (title text)")
    assert not reader.recognizes(path)
    with pytest.raises(IngestError, match=r"other\.db is a database, but not of MLflow: it holds songs"):
        read(reader, path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(IngestError, match=r"other\.db is"):
        read(reader, path)


def test_a_folder_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="no store, experiment or run of MLflow"):
        read(reader, tmp_path)


def test_a_store_without_runs_is_refused(tmp_path: Path) -> None:
    experiment(tmp_path / "mlruns", "0", "Default")
    (refused,) = only(Refused, read(reader, tmp_path / "mlruns"))
    assert refused.reason == "there is no run in it"


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab:'\"\\ \n#-[]x0u|>"), max_size=40) | st.text(max_size=20))
def test_any_meta_file_ends_in_a_mapping_or_a_message(text: str) -> None:
    said = "meta.yaml"
    try:
        assert all(isinstance(value, str | None) for value in flat_yaml(text, "meta.yaml").values())
    except IngestError as error:
        said = str(error)
    assert said.startswith("meta.yaml")


def test_a_table_of_many_columns_keeps_each_row_as_evidence(tmp_path: Path) -> None:
    path = table(tmp_path / "eval_results_table.json", ["inputs", "n/score"], [["x", 1]])
    (sample,) = only(Sample, read(reader, path))
    assert json.loads(json.dumps(sample.content)) == {"inputs": "x", "n/score": 1}
