"""What the reader of benchmarks makes of results of asv and hyperfine."""

from __future__ import annotations

import json
import math
from pathlib import Path

from opfield.core import MissingReason, Status
from opfield.ingest.readers.bench import reader
from opfield.ingest.records import (
    OBSERVED,
    MetricStated,
    Note,
    Refused,
    Sample,
    System,
)
from tests.ingest.bench_files import cells, commands, read_json, results
from tests.ingest.reading import only, read

# --- asv


def test_a_case_of_asv_is_a_combination_of_parameters(tmp_path: Path) -> None:
    parameters = [["'a'", "'b'"], ["1", "2"]]
    records = read_json(tmp_path, results({"suite.time_x": [[1.0, 2.0, 3.0, 4.0], parameters, "v", 1_700_000_000_000]}))
    assert cells(records) == {
        "suite.time_x('a', 1)": [{"time": 1.0}],
        "suite.time_x('a', 2)": [{"time": 2.0}],
        "suite.time_x('b', 1)": [{"time": 3.0}],
        "suite.time_x('b', 2)": [{"time": 4.0}],
    }
    sample = only(Sample, records)[2]
    assert sample.place == "run.json: results['suite.time_x'][2]"
    assert sample.started_at == "2023-11-14T22:13:20+00:00"
    assert sample.repeat is None
    assert only(System, records)[0].aliases == ("run", "fedcba9876543210", "fedcba98")


def test_samples_of_asv_are_repeats_where_they_were_recorded(tmp_path: Path) -> None:
    row = [[2.0, 5.0], [["1", "2"]], "v", None, None, [[1.0, 2.0, 3.0], None]]
    records = read_json(tmp_path, results({"time_x": row}))
    assert [values["time"] for values in cells(records)["time_x(1)"]] == [1.0, 2.0, 3.0]
    assert [values["time"] for values in cells(records)["time_x(2)"]] == [5.0]
    assert [one.repeat for one in only(Sample, records)] == [OBSERVED, OBSERVED, OBSERVED, None]
    assert only(Note, records)[0].text.endswith(": 1")


def test_null_of_asv_is_a_failure_and_nan_a_combination_it_skips(tmp_path: Path) -> None:
    document = results({"time_x": [[None, math.nan, 1.0], [["1", "2", "3"]]], "time_y": [None, [["1", "2"]]]})
    samples = {one.case.key: one for one in only(Sample, read_json(tmp_path, document))}
    for key in ("time_x(1)", "time_y(1)", "time_y(2)"):
        failure = samples[key].failure
        assert samples[key].status is Status.DOMAIN_FAILURE
        assert failure is not None
        assert failure.code == "failed"
    assert samples["time_x(2)"].status is Status.SUCCESS
    assert samples["time_x(2)"].missing == {"time": MissingReason.NOT_APPLICABLE}
    assert samples["time_x(3)"].values == {"time": 1.0}


def test_the_older_layouts_of_asv_read_alike(tmp_path: Path) -> None:
    new = read_json(tmp_path, results({"time_a": [[1.0], []], "time_b": [[2.0, None], [["1", "2"]]]}))
    old = results(
        {"time_a": 1.0, "time_b": {"result": [2.0, None], "params": [["1", "2"]], "stats": [None, None]}}, version=1
    )
    del old["result_columns"]
    assert only(Sample, read_json(tmp_path, old)) == only(Sample, new)
    sampled = results({"time_a": {"result": [1.0], "params": [], "samples": [0.5, 1.5]}}, version=1)
    del sampled["result_columns"]
    assert cells(read_json(tmp_path, sampled)) == {"time_a": [{"time": 0.5}, {"time": 1.5}]}


def test_what_asv_measures_is_told_by_its_list_or_by_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "host"
    folder.mkdir(parents=True)
    (tmp_path / "results" / "benchmarks.json").write_text(
        json.dumps({"s.track_x": {"name": "s.track_x", "code": "", "type": "track", "unit": "errors"}, "version": 2})
    )
    found = {f"s.{name}": [[1.0], []] for name in ("time_x", "mem_x", "peakmem_x", "track_x", "track_y")}
    records = read_json(folder, results(found))
    assert {key: list(values[0]) for key, values in cells(records).items()} == {
        "s.time_x": ["time"],
        "s.mem_x": ["memory"],
        "s.peakmem_x": ["peak_memory"],
        "s.track_x": ["track (errors)"],
        "s.track_y": ["track"],
    }
    assert {one.metric.direction for one in only(MetricStated, records)} == {"minimize"}


def test_benchmarks_of_asv_that_measure_something_else_are_left_out_where_a_metric_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(results({"time_x": [[1.0], []], "mem_x": [[2, 3], [["1", "2"]]]})))
    assert [dict(one.groups) for one in only(Sample, read(reader, path))] == [
        {"measures": "time"},
        {"measures": "memory"},
        {"measures": "memory"},
    ]
    asked = read(reader, path, metrics=("time",))
    assert cells(asked) == {"time_x": [{"time": 1.0}]}
    assert only(Note, asked)[-1].text == "benchmarks that measure none of time, and were left out: 1"
    (refused,) = only(Refused, read(reader, path, metrics=("speed",)))
    assert refused.reason == "it holds no benchmark, or none that measures speed"


def test_benchmarks_whose_code_changed_between_files_are_pointed_out(tmp_path: Path) -> None:
    for name, version in (("a.json", "1"), ("b.json", "2")):
        (tmp_path / name).write_text(json.dumps(results({"time_x": [[1.0], [], version], "time_y": [[1.0], [], "0"]})))
    notes = [
        note for note in only(Note, read(reader, tmp_path / "a.json", tmp_path / "b.json")) if "version" in note.text
    ]
    assert [(note.place, note.text[-3:]) for note in notes] == [("b.json", ": 1")]


# --- hyperfine


def test_runs_of_a_command_are_repeats_and_a_code_other_than_0_is_a_failure(tmp_path: Path) -> None:
    records = read_json(
        tmp_path,
        commands({"command": "sleep 1", "mean": 2.0, "times": [1.0, 2.0, 3.0], "exit_codes": [0, 7, None]}),
    )
    samples = only(Sample, records)
    assert [one.values for one in samples] == [{"time": 1.0}, {"time": 2.0}, {"time": 3.0}]
    assert [one.status for one in samples] == [Status.SUCCESS, Status.DOMAIN_FAILURE, Status.DOMAIN_FAILURE]
    assert [one.failure.message for one in samples if one.failure] == [
        "exit code 7",
        "the command was ended by a signal",
    ]
    assert {one.failure.code for one in samples if one.failure} == {"exit_code"}
    assert only(Note, records) == []


def test_parameters_are_part_of_a_case(tmp_path: Path) -> None:
    found = [{"command": "make", "parameters": {"jobs": str(jobs)}, "times": [1.0 * jobs]} for jobs in (1, 2)]
    assert cells(read_json(tmp_path, commands(*found))) == {
        "make [jobs=1]": [{"time": 1.0}],
        "make [jobs=2]": [{"time": 2.0}],
    }


def test_measurements_of_the_second_schema_are_read(tmp_path: Path) -> None:
    runs = [
        {
            "time_wall_clock": {"value": wall, "unit": "second"},
            "time_cpu": {"value": 5, "unit": "millisecond"},
            "memory_peak_resident": {"value": 1024, "unit": "byte"},
            "exit_code": code,
        }
        for wall, code in ((1.5, 0), (2.5, 1))
    ]
    document = commands({"command": "x", "name": "named", "measurements": runs}) | {"schema_version": 2}
    samples = only(Sample, read_json(tmp_path, document))
    assert samples[0].values == {"time": 1.5, "cpu_time": 0.005, "memory": 1024.0}
    assert [one.case.key for one in samples] == ["named", "named"]
    assert [one.status for one in samples] == [Status.SUCCESS, Status.DOMAIN_FAILURE]


def test_without_runs_the_stated_mean_of_a_command_stands(tmp_path: Path) -> None:
    records = read_json(tmp_path, commands({"command": "x", "mean": 2.0, "times": None}))
    assert cells(records) == {"x": [{"time": 2.0}]}
    assert "whose stated mean stands" in only(Note, records)[0].text
