"""lm-evaluation-harness: runs, systems, cases, filters, metrics and stated figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.core import MissingReason, Status
from opfield.ingest.readers.lm_eval import reader
from opfield.ingest.records import IngestError, MetricStated, Note, Refused, Sample, Stated, System
from tests.ingest.reading import SHARED, needs_shared, only, read

Members = dict[str, Any]
DATE = "2025-09-09T13-31-53.431753"
LATER = "2025-09-10T08-00-00.000001"


def row(doc_id: Any = 0, value: Any = 1.0, filter_name: str | None = "none", **members: Any) -> Members:
    """A row as the harness logs it, of one metric under one filter."""
    return (
        {
            "doc_id": doc_id,
            "doc": {"question": f"{doc_id}?", "answer": "4"},
            "target": "4",
            "arguments": {"gen_args_0": {"arg_0": f"Examples first. {doc_id}?"}},
            "resps": [["4"]],
            "filtered_resps": ["4"],
            "metrics": ["exact_match"],
            "doc_hash": "d",
            "prompt_hash": "p",
            "exact_match": value,
        }
        | ({} if filter_name is None else {"filter": filter_name})
        | members
    )


def results(*tasks: str, model: str = "org/model", sizes: dict[str, int] | None = None, **members: Any) -> Members:
    return {
        "results": {task: {"alias": task, "exact_match,none": 0.5, "exact_match_stderr,none": 0.1} for task in tasks},
        "configs": {task: {"metric_list": [{"metric": "exact_match", "aggregation": "mean"}]} for task in tasks},
        "higher_is_better": {task: {"exact_match": True} for task in tasks},
        "n-samples": {task: {"original": 10, "effective": (sizes or {}).get(task, 4)} for task in tasks},
        "n-shot": dict.fromkeys(tasks, 5),
        "config": {"model": "hf", "model_args": f"pretrained={model},api_key=abcdefgh"},
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
        "lm_eval_version": "0.4.9",
        "date": 1757424333.1,
    } | members


def samples_file(folder: Path, *rows: Any, task: str = "sums", date: str = DATE) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def results_file(folder: Path, value: Any, date: str = DATE) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"results_{date}.json"
    path.write_text(json.dumps(value))
    return path


def test_a_row_becomes_a_cell_of_its_task(tmp_path: Path) -> None:
    records = read(reader, samples_file(tmp_path, row(7)), results_file(tmp_path, results("sums")))
    (sample,), (system,) = only(Sample, records), only(System, records)
    assert (sample.system, sample.case.key, sample.case.suite) == (system.key, 7, "sums")
    assert sample.place == f"samples_sums_{DATE}.jsonl: line 1"
    assert sample.input == "7?"
    assert sample.values == {"exact_match,none": 1.0}
    assert (sample.status, sample.groups, sample.repeat) == (Status.SUCCESS, {"task": "sums"}, None)
    assert sample.content["resps"] == [["4"]]
    assert "arguments" not in sample.content


def test_a_system_is_the_model_that_the_results_file_names(tmp_path: Path) -> None:
    path = samples_file(tmp_path, row())
    (system,) = only(System, read(reader, path, results_file(tmp_path, results("sums"))))
    assert system.label == "org__model"
    assert {"org/model", "model", DATE, path.name, f"results_{DATE}.json", tmp_path.name} <= set(system.aliases)
    assert system.says == {
        "tool": "lm-evaluation-harness",
        "version": "0.4.9",
        "model": "org/model",
        "source": "hf",
        "arguments": "pretrained=org/model,api_key=***",
        "examples": {"sums": 5},
    }


def test_a_results_file_that_was_not_named_is_not_read_and_told_of(tmp_path: Path) -> None:
    results_file(tmp_path / "folder", results("sums"))
    path = samples_file(tmp_path / "folder", row())
    records = read(reader, path)
    assert [system.label for system in only(System, records)] == ["folder"]
    assert only(Stated, records) == []
    (note,) = only(Note, records)
    assert note.place == path.name
    assert note.text.startswith(f"results_{DATE}.json lies beside it and was not named, so it was not read")


def test_without_a_results_file_the_folder_names_the_model(tmp_path: Path) -> None:
    records = read(reader, samples_file(tmp_path / "org__model", row()))
    assert [system.label for system in only(System, records)] == ["org__model"]
    assert only(Stated, records) == []


def test_runs_of_one_model_are_told_apart_by_date(tmp_path: Path) -> None:
    paths = [samples_file(tmp_path, row(), date=date) for date in (DATE, LATER)]
    paths += [results_file(tmp_path, results("sums", date=number), date) for number, date in enumerate((DATE, LATER))]
    first, second = only(System, read(reader, *paths))
    assert (first.label, second.label) == (f"org__model {DATE}", f"org__model {LATER}")
    assert first.run != second.run
    assert tmp_path.name not in first.aliases


def test_runs_of_one_model_and_date_are_told_apart_by_folder(tmp_path: Path) -> None:
    paths = [samples_file(tmp_path / name, row()) for name in ("a", "b")]
    paths += [results_file(tmp_path / name, results("sums")) for name in ("a", "b")]
    assert [system.label for system in only(System, read(reader, *paths))] == [
        f"org__model {DATE} a",
        f"org__model {DATE} b",
    ]


def test_tasks_of_one_date_are_one_run_and_its_documents_are_told_apart_by_task(tmp_path: Path) -> None:
    paths = [samples_file(tmp_path, row(0), task=task) for task in ("sums", "facts_of_life")]
    records = read(reader, *paths, results_file(tmp_path, results("sums", "facts_of_life")))
    assert len(only(System, records)) == 1
    assert [sample.case.suite for sample in only(Sample, records)] == ["sums", "facts_of_life"]


def by_filter(documents: int) -> list[Members]:
    """Rows as the harness writes them: all documents under one filter, then all under the next."""
    return [row(doc, doc / 8 + (name == "b"), name) for name in ("a", "b") for doc in range(documents)]


def interleaved(documents: int) -> list[Members]:
    return sorted(by_filter(documents), key=lambda each: each["doc_id"])


@pytest.mark.parametrize("arranged", [by_filter, interleaved])
def test_rows_of_a_document_under_several_filters_are_one_cell(tmp_path: Path, arranged: Any) -> None:
    samples = only(Sample, read(reader, samples_file(tmp_path, *arranged(3))))
    assert [sample.case.key for sample in samples] == [0, 1, 2]
    assert [dict(sample.values) for sample in samples] == [
        {"exact_match,a": doc / 8, "exact_match,b": doc / 8 + 1} for doc in range(3)
    ]


def test_a_document_that_one_filter_lacks_keeps_the_values_of_the_others(tmp_path: Path) -> None:
    rows = [row(0, 1.0, "a"), row(1, 0.0, "b"), row(0, 0.5, "b")]
    samples = only(Sample, read(reader, samples_file(tmp_path, *rows)))
    assert [(sample.case.key, dict(sample.values)) for sample in samples] == [
        (0, {"exact_match,a": 1.0, "exact_match,b": 0.5}),
        (1, {"exact_match,b": 0.0}),
    ]


@pytest.mark.parametrize("filters", [["none"], ["a", "b"]])
def test_a_document_that_stands_twice_is_told_twice(tmp_path: Path, filters: list[str]) -> None:
    rows = [row(0, 1.0, name) for name in filters] * 2
    first, second = only(Sample, read(reader, samples_file(tmp_path, *rows)))
    assert (first.case, first.values, first.content) == (second.case, second.values, second.content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.data())
def test_no_order_of_rows_changes_what_a_document_amounts_to(tmp_path: Path, data: st.DataObject) -> None:
    cells = st.tuples(st.integers(0, 4), st.sampled_from("abc"))
    chosen = data.draw(st.lists(cells, unique=True, min_size=1, max_size=12))
    rows = [row(doc, doc + ord(name) / 128, name) for doc, name in data.draw(st.permutations(chosen))]
    expected: dict[int, dict[str, float]] = {}
    for doc, name in chosen:
        expected.setdefault(doc, {})[f"exact_match,{name}"] = doc + ord(name) / 128
    samples = only(Sample, read(reader, samples_file(tmp_path, *rows)))
    assert {sample.case.key: dict(sample.values) for sample in samples} == expected
    assert len(samples) == len(expected)


def test_rows_without_filter_and_list_of_metrics_give_their_numbers(tmp_path: Path) -> None:
    old = {"doc_id": 0, "doc": {"x": 1}, "target": 2, "resps": [], "acc": True, "acc_norm": 0.5, "bleu": [1, 2]}
    (sample,) = only(Sample, read(reader, samples_file(tmp_path, old)))
    assert sample.values == {"acc": 1.0, "acc_norm": 0.5}
    assert sample.input == {"x": 1}


def test_the_first_versions_wrote_one_list_and_no_dates(tmp_path: Path) -> None:
    path = tmp_path / "pretrained__org-model_facts_of_life.jsonl"
    path.write_text(json.dumps([row(0, filter_name=None), row(1, filter_name=None)], indent=2))
    (tmp_path / "results.json").write_text(json.dumps(results("facts_of_life", "life")))
    samples = only(Sample, read(reader, path, tmp_path / "results.json"))
    assert [(sample.case.key, sample.case.suite) for sample in samples] == [(0, "facts_of_life"), (1, "facts_of_life")]
    assert samples[1].place == f"{path.name}: [1]"


@pytest.mark.parametrize(
    ("doc", "asked"),
    [
        ({"question": "Q", "choices": ["a"]}, "Q"),
        ({"problem": "P", "answer": 1}, "P"),
        ({"question": " ", "text": "T"}, "T"),
        ({"ctx": "C", "endings": ["e"]}, {"ctx": "C", "endings": ["e"]}),
        ("text alone", "text alone"),
        (None, {"gen_args_0": {"arg_0": "Examples first. 0?"}}),
    ],
)
def test_the_input_is_what_the_document_asks(tmp_path: Path, doc: Any, asked: Any) -> None:
    (sample,) = only(Sample, read(reader, samples_file(tmp_path, row(doc=doc))))
    assert sample.input == asked


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), MissingReason.NOT_FINITE),
        (float("-inf"), MissingReason.NOT_FINITE),
        (1.7e308, MissingReason.NOT_FINITE),
        (None, MissingReason.NOT_EMITTED),
        ([-3.5, 7], MissingReason.NOT_APPLICABLE),
        ("0.5", MissingReason.NOT_APPLICABLE),
    ],
)
def test_what_is_no_number_is_missing_with_a_reason(tmp_path: Path, value: Any, reason: MissingReason) -> None:
    records = read(reader, samples_file(tmp_path / "org__model", row(0, value)))
    (sample,) = only(Sample, records)
    assert (dict(sample.values), dict(sample.missing)) == ({}, {"exact_match,none": reason})
    noted = [note for note in only(Note, records) if "1 rows have metrics without a value" in note.text]
    assert len(noted) == (reason is MissingReason.NOT_APPLICABLE)


def test_bypass_is_no_value_of_a_document(tmp_path: Path) -> None:
    (sample,) = only(Sample, read(reader, samples_file(tmp_path, row(metrics=["bypass"], bypass=999))))
    assert sample.missing == {"bypass,none": MissingReason.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("metric", "told", "direction"),
    [
        ("exact_match", {"higher_is_better": {"sums": {"exact_match": False}}}, "minimize"),
        ("loss", {"configs": {"sums": {"metric_list": [{"metric": "loss", "higher_is_better": False}]}}}, "minimize"),
        ("word_perplexity", {}, "minimize"),
        ("acc", {}, "maximize"),
        ("acc", {"higher_is_better": {"sums": {"acc": None}}}, "maximize"),
    ],
)
def test_the_direction_is_the_harness_s_own(tmp_path: Path, metric: str, told: Members, direction: str) -> None:
    path = samples_file(tmp_path, row(metrics=[metric]) | {metric: 1})
    (stated,) = only(MetricStated, read(reader, path, results_file(tmp_path, results("sums", **told))))
    assert (stated.metric.name, stated.metric.direction) == (f"{metric},none", direction)


def test_a_single_task_states_its_own_mean_and_size(tmp_path: Path) -> None:
    path = samples_file(tmp_path, row())
    stated = only(Stated, read(reader, path, results_file(tmp_path, results("sums", "other"))))
    assert [(each.figure, each.metric, each.value, each.place) for each in stated] == [
        ("samples", None, 4, f"results_{DATE}.json: n-samples"),
        ("mean", "exact_match,none", 0.5, f"results_{DATE}.json: results.sums"),
    ]


def test_several_tasks_state_their_means_pooled_by_size(tmp_path: Path) -> None:
    held = results("a", "b", sizes={"a": 30, "b": 10})
    held["results"]["b"]["exact_match,none"] = 0.9
    paths = [samples_file(tmp_path, row(), task=task) for task in ("a", "b")]
    samples, mean = only(Stated, read(reader, *paths, results_file(tmp_path, held)))
    assert samples.value == 40
    assert mean.value == pytest.approx((30 * 0.5 + 10 * 0.9) / 40)
    assert mean.name == "exact_match,none of 2 tasks by size"


def test_nothing_is_pooled_where_one_task_states_no_figure_or_no_size(tmp_path: Path) -> None:
    paths = [samples_file(tmp_path, row(), task=task) for task in ("a", "b")]
    without_figure, without_size = results("a", "b"), results("a", "b")
    del without_figure["results"]["b"]["exact_match,none"]
    del without_size["n-samples"]["b"]
    stated = only(Stated, read(reader, *paths, results_file(tmp_path, without_figure)))
    assert [each.figure for each in stated] == ["samples"]
    assert only(Stated, read(reader, *paths, results_file(tmp_path, without_size))) == []


def test_a_figure_that_is_no_mean_over_documents_is_not_stated_as_one(tmp_path: Path) -> None:
    held = results("sums")
    held["configs"]["sums"]["metric_list"][0]["aggregation"] = "perplexity"
    stated = only(Stated, read(reader, samples_file(tmp_path, row()), results_file(tmp_path, held)))
    assert [each.figure for each in stated] == ["samples"]


def test_what_the_results_file_states_and_no_sample_has_is_noted(tmp_path: Path) -> None:
    held = results("sums", "other")
    held["results"]["sums"]["exact_match,flexible"] = 0.75
    notes = only(Note, read(reader, samples_file(tmp_path, row()), results_file(tmp_path, held)))
    assert [note.text for note in notes] == [
        "it states 1 tasks that have no file of samples here: other",
        "it states figures that no sample carries: exact_match,flexible",
    ]


def test_files_of_the_harness_are_recognized(tmp_path: Path) -> None:
    assert reader.recognizes(samples_file(tmp_path, row()))
    assert reader.recognizes(results_file(tmp_path, results("sums")))
    other = tmp_path / "results.json"
    other.write_text('{"results": {"accuracy": 1}}')
    assert not reader.recognizes(other)
    assert not reader.recognizes(tmp_path)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_arguments_of_a_model_hold_no_credential_and_are_cut_where_they_nest_deep(tmp_path: Path) -> None:
    arguments = {"pretrained": "org/model", "api_key": "abc", "base_url": "https://me:pw@host", "deep": nested(600)}
    held = results("sums", config={"model": "hf", "model_args": arguments})
    (system,) = only(System, read(reader, samples_file(tmp_path, row()), results_file(tmp_path, held)))
    assert set(system.says["arguments"]) == {"pretrained", "base_url", "deep"}
    assert system.says["arguments"]["base_url"] == "https://***@host"
    assert "…" in str(system.says["arguments"]["deep"])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (row(doc={"question": nested(600)}), "nests too deep"),
        (row(resps=nested(150)), "nests too deep"),
        ([1], "list, not a row"),
        ({"acc": 1}, "doc_id 'None'"),
        (row(True), "doc_id 'True'"),
        (row(1.5), "doc_id '1.5'"),
        (row(""), "doc_id ''"),
        (row() | {"filter": 3}, "filter '3'"),
        (row(metrics="acc"), "metrics 'acc'"),
        (row(metrics=["a\0"]), "NUL"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, broken: Any, reason: str) -> None:
    records = read(reader, samples_file(tmp_path, row(0), broken, row(2)))
    (refused,) = only(Refused, records)
    assert refused.place == f"samples_sums_{DATE}.jsonl: line 2"
    assert reason in refused.reason
    assert [sample.case.key for sample in only(Sample, records)] == [0, 2]


def test_a_file_of_nothing_but_refusals_is_not_read_to_its_end(tmp_path: Path) -> None:
    assert len(only(Refused, read(reader, samples_file(tmp_path, *range(10_000))))) == 51


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_files_that_are_cut_off_are_refused_by_name(tmp_path: Path, share: float) -> None:
    samples = samples_file(tmp_path, row(0), row(1), row(2))
    stated = results_file(tmp_path, results("sums"))
    for path in (samples, stated):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(IngestError, match=path.name):
            read(reader, samples, stated)
        path.write_bytes(whole)


@pytest.mark.parametrize("content", ["[]", "3", '{"results": []}', "{}", "", '{"results": {},}'])
def test_a_foreign_results_file_is_refused(tmp_path: Path, content: str) -> None:
    path = results_file(tmp_path, {})
    path.write_text(content)
    with pytest.raises(IngestError, match=path.name):
        read(reader, samples_file(tmp_path, row()), path)


def test_results_without_any_samples_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="--log_samples"):
        read(reader, results_file(tmp_path, results("sums")))


def test_two_results_files_of_one_run_are_refused(tmp_path: Path) -> None:
    other = tmp_path / f"mine_{DATE}.json"
    other.write_text(json.dumps(results("sums")))
    with pytest.raises(IngestError, match="both results of one run"):
        read(reader, samples_file(tmp_path, row()), results_file(tmp_path, results("sums")), other)


def test_an_empty_file_of_samples_is_noted(tmp_path: Path) -> None:
    notes = only(Note, read(reader, samples_file(tmp_path), results_file(tmp_path, results("sums"))))
    assert "the file holds no rows" in [note.text for note in notes]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(st.sampled_from(sorted(row())), JSON),
    st.dictionaries(st.sampled_from(sorted(results("sums"))), JSON | st.dictionaries(st.just("sums"), JSON)),
)
def test_any_value_in_any_member_is_told_or_refused(tmp_path: Path, members: Members, heads: Members) -> None:
    paths = samples_file(tmp_path, row() | members), results_file(tmp_path, results("sums") | heads)
    try:
        records = read(reader, *paths)
    except IngestError:
        return
    assert len(only(Sample, records)) + len(only(Refused, records)) == 1


@needs_shared
@pytest.mark.parametrize(
    ("folder", "systems", "cells"),
    [
        ("DanielKluev__pyFade/tests/data/eval_mmlu_pro_plus", 2, 18),
        ("DanielKluev__pyFade/tests/data", 2, 6),
        ("evaleval__every_eval_ever/tests/data/lm_eval", 1, 10),
    ],
)
def test_real_files_amount_to_their_rows(folder: str, systems: int, cells: int) -> None:
    paths = [path for path in sorted((SHARED / "lm_eval" / folder).iterdir()) if path.is_file()]
    assert all(reader.recognizes(path) for path in paths)
    records = read(reader, *paths)
    samples = only(Sample, records)
    assert (len(only(System, records)), len(samples), only(Refused, records)) == (systems, cells, [])
    rows = [json.loads(line) for path in paths if path.suffix == ".jsonl" for line in path.read_text().splitlines()]
    assert sorted(value for sample in samples for value in sample.values.values()) == sorted(
        each["exact_match"] for each in rows
    )
    # Both models answered the same documents, and the same is said to have been asked.
    by_system = [{(one.case, one.input) for one in samples if one.system == each.key} for each in only(System, records)]
    assert all(cases == by_system[0] for cases in by_system)
