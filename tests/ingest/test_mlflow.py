"""Runs of MLflow from file stores: runs are systems, last values are metrics, rows of evaluation tables are cases."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import opfield as of
from opfield.core import MissingReason, Status
from opfield.ingest.commit import ingest
from opfield.ingest.readers.mlflow import reader
from opfield.ingest.records import MetricStated, Note, Refused, Sample, Stated, System
from opfield.ingest.request import Request
from opfield.ingest.sources import Asked
from tests.ingest.mlflow_stores import experiment, run, table
from tests.ingest.reading import SHARED, needs_shared, only, read

STORE = SHARED / "mlflow/Finnk11__bilevel-rl/experiments/mlruns"


def test_a_run_is_a_system_and_its_last_values_are_one_cell_on_its_experiment(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "mlruns", "1", "tuning")
    tags = {"mlflow.source.name": "train.py", "mlflow.user": "me", "mlflow.parentRunId": "p", "mlflow.runName": "old"}
    metrics = {"acc": "1 0.25 0\n3 0.75 2\n2 0.5 1\n", "eval/f 1": "5 0.5\n"}
    run(folder, "a1", name="first", params={"lr": "0.1", "deep/er": "x"}, tags=tags, metrics=metrics)
    records = read(reader, tmp_path / "mlruns")
    assert not only(Refused, records)
    (system,) = only(System, records)
    assert (system.label, system.aliases, system.run) == ("first", ("a1",), "a1")
    assert system.says == {
        "tool": "mlflow",
        "params": {"lr": "0.1", "deep/er": "x"},
        "source": {"mlflow.source.name": "train.py"},
    }
    (sample,) = only(Sample, records)
    assert (sample.case.key, dict(sample.values)) == ("tuning", {"acc": 0.75, "eval/f 1": 0.5})
    assert (sample.duration_s, sample.started_at) == (2.5, "2023-11-14T22:13:20+00:00")
    assert sample.place == "mlruns/1/a1/meta.yaml"
    assert sample.content["parent_run_id"] == "p"
    assert sample.content["metrics"]["acc"]["history"] == [[1, 0.25, 0], [3, 0.75, 2], [2, 0.5, 1]]
    assert {each.metric.direction for each in only(MetricStated, records)} == {"maximize"}
    assert "--minimize" in only(Note, records)[0].text


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [
        ("3", Status.SUCCESS, None),
        ("4", Status.INFRASTRUCTURE_FAILURE, "failed"),
        ("5", Status.CANCELLED, "killed"),
        ("1", Status.CANCELLED, "not_finished"),
        ("2", Status.CANCELLED, "not_finished"),
        ("FINISHED", Status.SUCCESS, None),
    ],
)
def test_how_a_run_ended_is_the_status_of_its_cell(
    tmp_path: Path, status: str, expected: Status, code: str | None
) -> None:
    run(experiment(tmp_path / "mlruns", "1", "tuning"), "a1", status=status, metrics={"acc": "1 0.5 0\n"})
    (sample,) = only(Sample, read(reader, tmp_path / "mlruns"))
    assert (sample.status, sample.failure and sample.failure.code) == (expected, code)


@pytest.mark.parametrize(
    ("content", "value", "missing"),
    [
        ("1 nan 0\n", None, MissingReason.NOT_FINITE),
        ("1 0.5 0\n2 NaN 1\n", None, MissingReason.NOT_FINITE),
        ("1 -inf 0\n", None, MissingReason.NOT_FINITE),
        ("1 1.7976931348623157e+308 0\n", None, MissingReason.NOT_FINITE),
        ("", None, MissingReason.NOT_EMITTED),
        ("\n\n1 0.5 0\n\n", 0.5, None),
        ("9 0.5 0\n1 0.25 1\n", 0.25, None),
        ("1 0.5 0\n1 0.75 0\n1 nan 0\n", 0.75, None),
        ("1 0.5 3 set digest\n2 0.25 1 set digest\n", 0.5, None),
    ],
)
def test_the_last_value_is_by_step_and_then_by_time(
    tmp_path: Path, content: str, value: float | None, missing: MissingReason | None
) -> None:
    run(experiment(tmp_path / "mlruns", "1", "tuning"), "a1", metrics={"acc": content})
    (sample,) = only(Sample, read(reader, tmp_path / "mlruns"))
    assert (sample.values.get("acc"), sample.missing.get("acc")) == (value, missing)


def test_deleted_runs_and_experiments_without_runs_are_told_of(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "mlruns", "1", "tuning")
    run(folder, "a1", metrics={"acc": "1 0.5 0\n"})
    run(folder, "a2", metrics={"acc": "1 0.5 0\n"}, lifecycle_stage="deleted")
    run(experiment(tmp_path / "mlruns", "2", "gone", lifecycle_stage="deleted"), "a3")
    experiment(tmp_path / "mlruns", "0", "Default")
    records = read(reader, tmp_path / "mlruns")
    assert [system.key for system in only(System, records)] == ["a1"]
    assert [note.text for note in only(Note, records)][:3] == [
        "experiment 'Default' has no runs",
        "the run was deleted, and is left out",
        "experiment 'gone' was deleted; its runs are left out",
    ]


def test_a_run_named_alone_finds_the_name_of_its_experiment_above_it(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "mlruns", "1", "tuning")
    for name in ("a1", "a2"):
        run(folder, name, metrics={"acc": "1 0.5 0\n"})
    for paths in ([folder / "a1", folder / "a2"], [folder], [tmp_path / "mlruns"]):
        assert all(reader.recognizes(path) for path in paths)
        records = read(reader, *paths)
        assert [(each.system, each.case.key) for each in only(Sample, records)] == [("a1", "tuning"), ("a2", "tuning")]
        assert "all runs are of one case" in only(Note, records)[-1].text


ROWS: list[list[Any]] = [
    ["how?", "so", 4, None, 1.5, True, "fine"],
    ["why?" * 90, "no", None, "no answer", 2.5, False, ""],
    [{"q": 1}, "no", None, None, 3.5, None, "x"],
]
COLUMNS = ["inputs", "outputs", "sim/v1/score", "sim/v1/justification", "latency", "passed", "remark"]


def test_rows_of_an_evaluation_table_are_cases_by_what_was_asked(tmp_path: Path) -> None:
    folder = run(
        experiment(tmp_path / "mlruns", "1", "tuning"), "a1", metrics={"sim/v1/mean": "1 4 0\n", "f": "1 2 0\n"}
    )
    table(folder / "artifacts/eval_results_table.json", COLUMNS, ROWS)
    records = read(reader, tmp_path / "mlruns", metrics=("passed",))
    assert [each.metric.name for each in only(MetricStated, records)] == ["sim/v1/score", "latency", "passed"]
    first, second, third = only(Sample, records)
    assert (first.case.key, first.input, first.place) == (
        "how?", "how?", "mlruns/1/a1/artifacts/eval_results_table.json: data[0]",
    )  # fmt: skip
    assert dict(first.values) == {"sim/v1/score": 4.0, "latency": 1.5, "passed": 1.0}
    assert dict(second.missing) == {"sim/v1/score": MissingReason.JUDGE_FAILED}
    assert dict(third.missing) == dict.fromkeys(["sim/v1/score", "passed"], MissingReason.NOT_EMITTED)
    assert str(second.case.key).startswith("inputs ")
    assert second.case.key != third.case.key
    (stated,) = only(Stated, records)
    assert (stated.metric, stated.name, stated.value) == ("sim/v1/score", "sim/v1/mean", 4.0)


def test_tables_of_two_runs_are_judged_over_the_inputs_that_they_share(tmp_path: Path) -> None:
    above = experiment(tmp_path / "mlruns", "1", "tuning")
    draw = random.Random(5)
    scores = {key: [draw.gauss(mean, 1) for _ in range(20)] for key, mean in (("a1", 5), ("a2", 9))}
    for key, of_run in scores.items():
        folder = run(above, key, name=f"run {key}")
        rows = [[f"question {number}", score] for number, score in enumerate(of_run)]
        table(folder / "artifacts/eval_results_table.json", ["inputs", "sim/v1/score"], draw.sample(rows, 20))
    options = {option.name: option.default for option in reader.options}
    taken = ingest(Request((Asked(reader, (tmp_path / "mlruns",), options),), "run a1"), tmp_path / "w")
    found = of.open(taken.root).sql(
        "select pairs, mean_delta, standard_error, decision from comparisons "
        "inner join decisions using (campaign_id, candidate_id)"
    )
    (row,) = found.fetchall()
    deltas = [new - old for old, new in zip(scores["a1"], scores["a2"], strict=True)]
    assert row == (20, pytest.approx(fmean(deltas)), pytest.approx(stdev(deltas) / 20**0.5), "pass")


def test_a_column_can_say_which_case_a_row_is(tmp_path: Path) -> None:
    path = table(tmp_path / "eval_results_table.json", ["id", "f/score"], [[7, 0.5], ["7", 0.25]])
    assert reader.recognizes(path)
    options: dict[str, Any] = {"case-column": "id"}
    records = read(reader, path, **options)
    assert [(each.case.key, each.values["f/score"]) for each in only(Sample, records)] == [(7, 0.5), ("7", 0.25)]


def test_what_is_none_of_mlflows_is_not_recognized(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"columns": [], "data": []}))
    (tmp_path / "other").mkdir()
    assert not any(reader.recognizes(path) for path in (tmp_path, tmp_path / "other", tmp_path / "results.json"))


@needs_shared
def test_the_public_store_has_one_finished_and_two_failed_runs() -> None:
    records = read(reader, STORE)
    samples = only(Sample, records)
    assert sorted(each.status for each in samples) == [
        Status.INFRASTRUCTURE_FAILURE, Status.INFRASTRUCTURE_FAILURE, Status.SUCCESS,
    ]  # fmt: skip
    (finished,) = (each for each in samples if each.status is Status.SUCCESS)
    # The files of this store are in order of their steps, so that the last line is the last value.
    expected = {
        path.relative_to(STORE / "1" / finished.system / "metrics").as_posix(): float(
            path.read_text().split("\n")[-2].split(" ")[1]
        )
        for path in (STORE / "1" / finished.system / "metrics").rglob("*")
        if path.is_file()
    }
    assert len(expected) == 16
    assert dict(finished.values) == expected
    assert {each.case.key for each in samples} == {"DQN"}
