"""File stores and databases that MLflow itself wrote, against MLflow; skipped where it is not installed."""

from __future__ import annotations

import hashlib
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.core import MissingReason, Status
from opfield.ingest.readers.mlflow import reader
from opfield.ingest.readers.mlflow_yaml import flat_yaml
from opfield.ingest.records import IngestError, Note, Sample, System
from tests.ingest.mlflow_stores import table
from tests.ingest.reading import only, read

# MLflow warns of its own deprecations.
pytestmark = pytest.mark.filterwarnings("default")

POINTS = [
    ("acc", 0.5, 9, 0),
    ("acc", 0.75, 2, 1),
    ("nan", math.nan, 1, 0),
    ("inf", math.inf, 1, 0),
    ("a/b", -2.0, 1, 3),
]


def _filled(store: Any) -> list[str]:
    from mlflow.entities import Metric, Param, RunStatus, RunTag

    key = store.create_experiment(
        "a long name: with a colon, # and more words than fit on one line of a YAML file, so that it is folded"
    )
    store.create_experiment("empty")
    made = []
    for name, status in (("ﬁrst", "FINISHED"), ("second", "FAILED"), ("third", "KILLED"), ("gone", "FINISHED")):
        info = store.create_run(key, "me", 1_700_000_000_000, [], name).info
        tags = [RunTag("mlflow.source.name", "train.py"), RunTag("note", "line 1\nline 2")]
        points = [Metric(*each) for each in POINTS]
        store.log_batch(info.run_id, points, [Param("lr", "0.1"), Param("kind", name)], tags)
        store.update_run_info(info.run_id, RunStatus.from_string(status), 1_700_000_001_500, name)
        made.append(info.run_id)
    store.delete_run(made[-1])
    return made


def _check(path: Path, made: list[str], **options: Any) -> None:
    records = read(reader, path, **options)
    systems = {system.key: system for system in only(System, records)}
    samples = {sample.system: sample for sample in only(Sample, records)}
    assert set(samples) == set(made[:3])
    first = samples[made[0]]
    assert (dict(first.values), dict(first.missing)) == (
        {"acc": 0.75, "a/b": -2.0}, {"nan": MissingReason.NOT_FINITE, "inf": MissingReason.NOT_FINITE},
    )  # fmt: skip
    assert str(first.case.key).startswith("a long name: with a colon, # and more words")
    assert [samples[key].status for key in made[:3]] == [
        Status.SUCCESS, Status.INFRASTRUCTURE_FAILURE, Status.CANCELLED,
    ]  # fmt: skip
    assert (systems[made[0]].label, first.duration_s) == ("ﬁrst", 1.5)
    assert systems[made[0]].says["params"] == {"lr": "0.1", "kind": "ﬁrst"}
    texts = [note.text for note in only(Note, records)]
    assert "the run was deleted, and is left out" in texts
    assert "experiment 'empty' has no runs" in texts


def _sql_store(path: Path, artifacts: Path) -> Any:
    pytest.importorskip("mlflow", reason="MLflow, which reads its databases, is not installed")
    sqlalchemy_store = pytest.importorskip("mlflow.store.tracking.sqlalchemy_store", reason="a part of it is missing")
    return sqlalchemy_store.SqlAlchemyStore(f"sqlite:///{path}", str(artifacts))


def test_a_file_store_of_mlflow_says_what_was_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    file_store = pytest.importorskip("mlflow.store.tracking.file_store", reason="MLflow, which wrote it, is missing")
    store = file_store.FileStore(str(tmp_path / "mlruns"))
    _check(tmp_path / "mlruns", _filled(store))


def test_a_tracking_database_says_what_was_logged_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    store = _sql_store(path, tmp_path / "artifacts")
    made = _filled(store)
    store.engine.dispose()
    before = hashlib.sha256(path.read_bytes()).digest()
    assert reader.recognizes(path)
    _check(path, made)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [each.name for each in tmp_path.iterdir()] == ["mlflow.db"]
    # A table among the artifacts of a run is read where the artifacts are named.
    folder = tmp_path / "artifacts/1" / made[0] / "artifacts"
    folder.mkdir(parents=True)
    table(folder / "eval_results_table.json", ["inputs", "f/score"], [["x", 1], ["y", 0]])
    samples = only(Sample, read(reader, path, artifacts=tmp_path / "artifacts"))
    assert [each.case.key for each in samples if each.system == made[0]] == ["x", "y"]


def test_a_database_of_an_unknown_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    path = tmp_path / "mlflow.db"
    _sql_store(path, tmp_path / "artifacts").engine.dispose()
    with closing(sqlite3.connect(path)) as con:
        con.execute("update alembic_version set version_num = '451aebb31d03'")
        con.commit()
    with pytest.raises(IngestError, match="mlflow db upgrade sqlite:///COPY"):
        read(reader, path)


def test_without_mlflow_a_database_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3
    from contextlib import closing

    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as con:
        for name in ("experiments", "runs", "params", "metrics", "latest_metrics", "alembic_version"):
            con.execute(f"create table {name} (a text)")
    for module in [name for name in sys.modules if name == "mlflow" or name.startswith("mlflow.")] + ["mlflow"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(IngestError, match=r"pip install 'opfield\[mlflow\]'"):
        read(reader, path)


# YAML takes three separators of Unicode for ends of lines; no name in a store has them.
TEXTS = st.text(st.characters(exclude_characters="\x85\u2028\u2029", codec="utf-8"), max_size=200)
WORDS = st.lists(st.text("ab'\"\\\\\n #:-é", max_size=12), max_size=30).map(" ".join)
KEYS = st.sampled_from(["name", "run_id", "status", "x_y", "z"])


@settings(max_examples=1000, deadline=None)
@given(st.dictionaries(KEYS, TEXTS | WORDS | st.integers() | st.none()))
def test_scalars_are_read_as_yaml_reads_them(members: dict[str, Any]) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML, the oracle, is not installed")
    written = yaml.safe_dump(members, default_flow_style=False, allow_unicode=True)
    told = flat_yaml(written, "meta.yaml") if members else {}
    assert dict(told) == {name: None if value is None else str(value) for name, value in members.items()}
