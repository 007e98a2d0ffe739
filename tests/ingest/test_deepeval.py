"""DeepEval test runs: scores by metric, judges that failed, names that are positions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opfield.core import MissingReason, Status
from opfield.ingest.readers.deepeval import reader
from opfield.ingest.records import IngestError, MetricStated, Note, Record, Refused, Sample, Stated, System
from tests.ingest.reading import SHARED, needs_shared, only, read


def _data(name: str, score: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "threshold": 0.5, "success": (score or 0) >= 0.5, "error": None} | more


def _read(path: Path, cases: list[Any], **more: Any) -> list[Record]:
    path.write_text(json.dumps({"testCases": cases, "conversationalTestCases": []} | more))
    return read(reader, path)


def test_a_test_case_is_a_sample_with_the_scores_of_its_metrics(tmp_path: Path) -> None:
    case = {
        "name": "greeting", "input": "hi", "actualOutput": "hello", "completionTime": 2.5, "tokenCost": 0.25,
        "metricsData": [_data("Relevancy", 0.75, evaluationCost=0.5), _data("Faithfulness", 1, evaluationCost=None)],
    }  # fmt: skip
    records = _read(tmp_path / "run.json", [case], testPassed=1, testFailed=0, hyperparameters={"model": "m"})
    assert not only(Refused, records)
    (sample,) = only(Sample, records)
    assert (sample.case.key, sample.place, sample.input) == ("greeting", "run.json: testCases[0]", "hi")
    assert sample.values == {"Relevancy": 0.75, "Faithfulness": 1.0}
    assert (sample.cost_usd, sample.duration_s, sample.content) == (0.75, 2.5, case)
    assert only(System, records)[0].says == {"file": "run.json", "hyperparameters": {"model": "m"}}
    assert [(stated.figure, stated.value) for stated in only(Stated, records)] == [("samples", 1)]


def test_a_judge_that_failed_leaves_its_metric_missing_and_a_case_without_any_score_failed(tmp_path: Path) -> None:
    cases = [
        {"name": "a", "metricsData": [_data("R", None, error="429"), _data("F", 0.5), _data("G", None)]},
        {"name": "b", "metricsData": [_data("R", None, error="429")]},
    ]
    first, second = only(Sample, _read(tmp_path / "run.json", cases))
    assert first.status is Status.SUCCESS
    assert first.missing == {"R": MissingReason.JUDGE_FAILED, "G": MissingReason.NOT_EMITTED}
    assert second.status is Status.INFRASTRUCTURE_FAILURE
    assert second.failure is not None
    assert second.failure.message == "R: 429"
    assert (first.cost_usd, first.duration_s) == (None, None)


def test_a_name_that_is_a_position_gives_way_to_what_was_asked(tmp_path: Path) -> None:
    cases = [{"name": f"test_case_{n}", "input": q, "metricsData": [_data("R", 1)]} for n, q in enumerate("xy")]
    forward = _read(tmp_path / "1.json", cases)
    renamed = [{"name": f"test_case_{n}", "input": q, "metricsData": [_data("R", 1)]} for n, q in enumerate("yx")]
    backward = _read(tmp_path / "2.json", renamed)
    keys = [[sample.case.key for sample in only(Sample, records)] for records in (forward, backward)]
    assert keys[0] == keys[1][::-1]
    assert len(set(keys[0])) == 2
    assert "named by their position" in only(Note, forward)[0].text


def test_conversations_are_cases_too(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "hi"}]
    case = {"name": "talk", "turns": turns, "metricsData": [_data("R", 0.5)]}
    (sample,) = only(Sample, _read(tmp_path / "run.json", [], conversationalTestCases=[case]))
    assert (sample.place, sample.input) == ("run.json: conversationalTestCases[0]", turns)


def test_less_is_better_where_the_tool_says_so_and_a_contradiction_is_told_of(tmp_path: Path) -> None:
    metrics = [_data("Bias", 0.2, success=True), _data("Leaks", 0.2, success=True), _data("R", 0.9)]
    records = _read(tmp_path / "run.json", [{"name": "a", "metricsData": metrics}])
    directions = {stated.metric.name: stated.metric.direction for stated in only(MetricStated, records)}
    assert directions == {"Bias": "minimize", "Leaks": "maximize", "R": "maximize"}
    (note,) = only(Note, records)
    assert "'Leaks' passes below its threshold" in note.text


@pytest.mark.parametrize(
    "case",
    [
        3,
        {"name": "a", "metricsData": 3},
        {"name": "a", "metricsData": [3]},
        {"name": "a", "metricsData": [_data("R", 1), _data("R", 0)]},
        {"name": "a", "metricsData": [_data("", 1)]},
        {"name": "a", "metricsData": [_data("R", 1) | {"score": "good"}]},
        {"name": "a", "metricsData": [_data("R\0", 1)]},
        {"name": True, "metricsData": []},
        {"name": "test_case_0", "metricsData": []},
        {"name": "a", "metricsData": [], "tokenCost": -1},
    ],
)
def test_a_test_case_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path, case: Any) -> None:
    records = _read(tmp_path / "run.json", [case])
    assert [refused.place for refused in only(Refused, records)] == ["run.json: testCases[0]"]
    assert not only(Sample, records)


@pytest.mark.parametrize("content", ["", "[]", "{}", "3", '{"testCases": [', "{"])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(IngestError, match=r"x\.json"):
        read(reader, tmp_path / "x.json")


def test_its_files_are_recognized_and_others_are_not(tmp_path: Path) -> None:
    _read(tmp_path / "run.json", [])
    assert reader.recognizes(tmp_path / "run.json")
    (tmp_path / "other.json").write_text("[]")
    assert not reader.recognizes(tmp_path / "other.json")
    assert not reader.recognizes(tmp_path)


@needs_shared
def test_the_real_run_has_the_scores_of_its_file() -> None:
    path = SHARED / "deepeval/confident-ai__deepeval/deepeval/inspect/fixtures/test_run_sample.json"
    records = read(reader, path)
    assert not only(Refused, records)
    document = json.loads(path.read_text())
    (sample,) = only(Sample, records)
    assert sample.values == {data["name"]: data["score"] for data in document["testCases"][0]["metricsData"]}
    assert sample.cost_usd == pytest.approx(0.0042 + 0.0061)
    assert only(Stated, records)[0].value == document["testPassed"] + document["testFailed"] == 1
