"""SWE-bench reports and predictions: outcomes by instance, failures by whose they are, gaps kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opfield.core import Status
from opfield.ingest.readers.swebench import reader
from opfield.ingest.records import Expected, IngestError, MetricStated, Note, Refused, Sample, Stated, System
from tests.ingest.reading import SHARED, needs_shared, only, read

FOLDER = SHARED / "swebench/backspacevenkat__polydev-swe-bench"
REPORT: dict[str, Any] = {
    "total_instances": 9,
    "submitted_instances": 6,
    "completed_instances": 2,
    "resolved_instances": 1,
    "completed_ids": ["a", "b"],
    "incomplete_ids": ["x", "y", "z"],
    "submitted_ids": ["a", "b", "c", "d", "e", "f"],
    "resolved_ids": ["a"],
    "unresolved_ids": ["b"],
    "empty_patch_ids": ["c"],
    "error_ids": ["d"],
    "pending_ids": ["f"],
    "schema_version": 2,
}


def _write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_a_run_report_gives_an_outcome_to_each_instance_that_has_one(tmp_path: Path) -> None:
    records = read(reader, _write(tmp_path / "model.run.json", REPORT))
    assert not only(Refused, records)
    assert [(s.case.key, s.place.split(": ")[1], dict(s.values), s.status) for s in only(Sample, records)] == [
        ("a", "resolved_ids[0]", {"resolved": 1.0}, Status.SUCCESS),
        ("b", "unresolved_ids[0]", {"resolved": 0.0}, Status.SUCCESS),
        ("c", "empty_patch_ids[0]", {}, Status.DOMAIN_FAILURE),
        ("d", "error_ids[0]", {}, Status.INFRASTRUCTURE_FAILURE),
    ]
    codes = [sample.failure.code for sample in only(Sample, records) if sample.failure is not None]
    assert codes == ["empty_patch", "error"]
    assert [system.label for system in only(System, records)] == ["model.run"]


def test_what_was_submitted_is_expected_whether_or_not_it_came_back(tmp_path: Path) -> None:
    records = read(reader, _write(tmp_path / "model.run.json", REPORT))
    absences = {each.case.key: each.absence for each in only(Expected, records)}
    assert absences == dict.fromkeys("abcde", "missing") | {"f": "not_finished"}
    assert [(each.figure, each.value) for each in only(Stated, records)] == [("samples", 6), ("scored", 2)]
    assert "3 of 9 instances were never submitted" in only(Note, records)[0].text


def test_instances_never_submitted_are_missing_where_the_user_wants_all(tmp_path: Path) -> None:
    options: dict[str, Any] = {"all-instances": True}
    records = read(reader, _write(tmp_path / "model.run.json", REPORT), **options)
    assert [each.case.key for each in only(Expected, records)] == [*"abcdefxyz"]
    assert not only(Note, records)


def test_the_metric_counts_a_domain_failure_as_the_worst(tmp_path: Path) -> None:
    (stated,) = only(MetricStated, read(reader, _write(tmp_path / "m.json", REPORT)))
    metric = stated.metric
    assert (metric.name, metric.kind, metric.direction, metric.on_domain_failure) == (
        "resolved", "binary", "maximize", "worst",
    )  # fmt: skip


def test_counts_that_differ_from_the_lists_are_told_of(tmp_path: Path) -> None:
    records = read(reader, _write(tmp_path / "m.json", REPORT | {"resolved_instances": 5}))
    assert "resolved_instances is 5, but resolved_ids holds 1" in [note.text for note in only(Note, records)]


@pytest.mark.parametrize("ids", ["a", [1], [None], {"a": 1}, [""]])
def test_a_list_that_holds_no_ids_is_refused(tmp_path: Path, ids: Any) -> None:
    (refused,) = only(Refused, read(reader, _write(tmp_path / "m.json", REPORT | {"error_ids": ids})))
    assert refused.place == "m.json: error_ids"


def _report(**changes: Any) -> dict[str, Any]:
    return {
        "patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True, "resolved": True,
        "tests_status": {"FAIL_TO_PASS": {"success": ["t"], "failure": []}},
    } | changes  # fmt: skip


def test_reports_of_instances_belong_to_the_run_and_model_of_their_folders(tmp_path: Path) -> None:
    paths = [
        _write(tmp_path / "logs" / run / "model" / instance / "report.json", {instance: _report(resolved=resolved)})
        for run, instance, resolved in (("r1", "a", True), ("r1", "b", False), ("r2", "a", False))
    ]
    records = read(reader, *paths)
    assert [(system.key, system.says) for system in only(System, records)] == [
        ("r1/model", {"model": "model", "run": "r1"}),
        ("r2/model", {"model": "model", "run": "r2"}),
    ]
    samples = [(sample.system, sample.case.key, sample.values["resolved"]) for sample in only(Sample, records)]
    assert samples == [("r1/model", "a", 1.0), ("r1/model", "b", 0.0), ("r2/model", "a", 0.0)]


def test_a_patch_that_is_not_there_or_does_not_apply_is_a_failure_of_the_system(tmp_path: Path) -> None:
    document = {
        "a": _report(patch_is_None=True, resolved=False),
        "b": _report(patch_exists=False, resolved=False),
        "c": _report(patch_successfully_applied=False, resolved=False),
    }
    samples = only(Sample, read(reader, _write(tmp_path / "report.json", document)))
    assert [sample.failure.code for sample in samples if sample.failure is not None] == [
        "empty_patch", "empty_patch", "patch_not_applied",
    ]  # fmt: skip
    assert {sample.status for sample in samples} == {Status.DOMAIN_FAILURE}


@pytest.mark.parametrize("changes", [{"resolved": None}, {"resolved": 1}, {"resolved": True, "patch_exists": False}])
def test_a_report_that_contradicts_itself_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    records = read(reader, _write(tmp_path / "report.json", {"a": _report(**changes)}))
    assert [refused.place for refused in only(Refused, records)] == ["report.json: a"]
    assert not only(Sample, records)


PREDICTIONS: list[dict[str, Any]] = [
    {"instance_id": "a", "model_name_or_path": "m", "model_patch": ""},
    {"instance_id": "b", "model_name_or_path": "m", "model_patch": "diff"},
    {"instance_id": "a", "model_name_or_path": "m", "model_patch": "diff"},
    {"instance_id": "c", "model_name_or_path": "m", "model_patch": None},
]


@pytest.mark.parametrize("form", ["lines", "list"])
def test_predictions_are_expected_and_only_empty_patches_have_an_outcome(tmp_path: Path, form: str) -> None:
    path = tmp_path / ("preds.jsonl" if form == "lines" else "preds.json")
    if form == "lines":
        path.write_text("".join(json.dumps(item) + "\n" for item in PREDICTIONS))
    else:
        _write(path, PREDICTIONS)
    records = read(reader, path)
    last = {"lines": "line 3", "list": "[2]"}[form]
    assert [(each.case.key, each.absence) for each in only(Expected, records)] == [
        ("a", "not_finished"), ("b", "not_finished"), ("c", "not_finished"),
    ]  # fmt: skip
    assert only(Expected, records)[0].place.endswith(last)
    (sample,) = only(Sample, records)
    assert (sample.case.key, sample.status) == ("c", Status.DOMAIN_FAILURE)
    assert "1 instances are predicted again" in only(Note, records)[0].text


def test_predictions_by_instance_id_are_read_alike(tmp_path: Path) -> None:
    document = {item["instance_id"]: item for item in PREDICTIONS[1:]}
    records = read(reader, _write(tmp_path / "preds.json", document))
    assert [each.case.key for each in only(Expected, records)] == ["b", "a", "c"]


@pytest.mark.parametrize(
    "line", ['{"instance_id": "a"}', '{"model_patch": ""}', "3", '{"instance_id": "a", "model_patch": 3}']
)
def test_a_line_that_is_no_prediction_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    (tmp_path / "preds.jsonl").write_text(line + "\n")
    (refused,) = only(Refused, read(reader, tmp_path / "preds.jsonl"))
    assert refused.place == "preds.jsonl: line 1"


@pytest.mark.parametrize("content", ["", "[1", '{"a": 3}', "{}", "3", '{"results": {"a": 1}}'])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(IngestError, match=r"x\.json"):
        read(reader, tmp_path / "x.json")


def test_its_files_are_recognized_and_others_are_not(tmp_path: Path) -> None:
    assert reader.recognizes(_write(tmp_path / "m.run.json", REPORT))
    assert reader.recognizes(_write(tmp_path / "report.json", {"a": _report()}))
    assert reader.recognizes(_write(tmp_path / "preds.json", PREDICTIONS))
    assert not reader.recognizes(_write(tmp_path / "other.json", {"a": 1}))
    assert not reader.recognizes(tmp_path)


@needs_shared
def test_the_real_pair_counts_as_the_files_say() -> None:
    base = "claude-haiku-4-5-20251001.validation-baseline-eval.json"
    new = "claude-haiku-4-5-20251001.validation-polydev-eval.json"
    records = read(reader, FOLDER / base, FOLDER / new)
    assert not only(Refused, records)
    for name, errors in ((base, 0), (new, 1)):
        report = json.loads((FOLDER / name).read_text())
        samples = [sample for sample in only(Sample, records) if sample.system == name]
        assert sum(sample.values.get("resolved", 0) for sample in samples) == report["resolved_instances"] == 25
        assert len(samples) == report["submitted_instances"] == 40
        assert sum(sample.status is Status.INFRASTRUCTURE_FAILURE for sample in samples) == errors


@needs_shared
@pytest.mark.parametrize(("arm", "again"), [("baseline", 2), ("polydev", 0)])
def test_the_real_predictions_are_forty_instances(arm: str, again: int) -> None:
    records = read(reader, FOLDER / "results" / arm / "all_preds.jsonl")
    assert len(only(Expected, records)) == 40
    assert any(f"{again} instances are predicted again" in note.text for note in only(Note, records)) == bool(again)
