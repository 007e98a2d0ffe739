"""Results of pytest-benchmark, google-benchmark, asv and hyperfine, in small files of their shapes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.core import MissingReason, Status
from opfield.ingest.readers.bench import reader
from opfield.ingest.records import (
    OBSERVED,
    Expected,
    IngestError,
    MetricStated,
    Note,
    Refused,
    Sample,
    Stated,
    System,
)
from tests.ingest.bench_files import aggregate, cells, commands, iteration, read_json, results, session, suite, timed
from tests.ingest.reading import SHARED, needs_shared, only, read

FOLDER = SHARED / "bench"


# --- pytest-benchmark


def test_each_round_that_was_saved_is_a_repeat_in_its_order(tmp_path: Path) -> None:
    records = read_json(tmp_path, session(timed("test_a[1]", [0.25, 0.5, 0.25]), timed("test_b", [2.0], "slow")))
    assert cells(records) == {
        "tests/test_x.py::test_a[1]": [{"time": 0.25}, {"time": 0.5}, {"time": 0.25}],
        "tests/test_x.py::test_b": [{"time": 2.0}],
    }
    samples = only(Sample, records)
    assert {one.repeat for one in samples} == {OBSERVED}
    assert samples[1].place == "run.json: benchmarks[0].stats.data[1]"
    assert [dict(one.groups) for one in samples] == [{}, {}, {}, {"group": "slow"}]
    assert only(Note, records) == []


def test_without_rounds_the_stated_mean_is_the_one_cell_and_says_so(tmp_path: Path) -> None:
    bare = timed("test_a", [1.0])
    del bare["stats"]["data"]
    records = read_json(tmp_path, session(bare))
    (sample,) = only(Sample, records)
    assert (sample.values, sample.repeat, sample.place) == ({"time": 1.0}, None, "run.json: benchmarks[0].stats.mean")
    assert "--benchmark-save-data" in only(Note, records)[0].text


def test_stated_figures_that_the_rounds_contradict_are_pointed_out(tmp_path: Path) -> None:
    records = read_json(tmp_path, session(timed("test_a", [1.0, 2.0], rounds=3, mean=1.75)))
    assert [note.text for note in only(Note, records)] == [
        "3 rounds are stated, and 2 are there",
        "a mean of 1.75 s is stated, and its rounds have 1.5 s",
    ]


def test_time_is_in_seconds_and_less_is_better(tmp_path: Path) -> None:
    (stated,) = only(MetricStated, read_json(tmp_path, session(timed("test_a", [1.0]))))
    metric = stated.metric
    assert (metric.name, metric.direction, metric.unit, metric.lower, metric.kind) == (
        "time",
        "minimize",
        "s",
        0.0,
        "continuous",
    )


def test_a_file_is_a_system_known_by_its_name_and_commit_and_says_nothing_of_the_hour(tmp_path: Path) -> None:
    first, second = session(timed("test_a", [1.0])), session(timed("test_a", [2.0]))
    second["datetime"] = "2027-01-01"
    (one,) = only(System, read_json(tmp_path, first, "key=value.json"))
    (other,) = only(System, read_json(tmp_path, second, "b.json"))
    assert (one.label, one.aliases) == ("key=value.json", ("key=value", "0123456789abcdef"))
    assert one.says == other.says
    assert one.says["commit"] == "0123456789abcdef"


# --- google-benchmark


@pytest.mark.parametrize(("unit", "seconds"), [("ns", 2e-9), ("us", 2e-6), ("ms", 2e-3), ("s", 2.0)])
def test_times_of_every_unit_become_seconds(tmp_path: Path, unit: str, seconds: float) -> None:
    (values,) = cells(read_json(tmp_path, suite(iteration("BM", 2, 2, unit))))["BM"]
    assert values == pytest.approx({"time": seconds, "cpu_time": seconds})


def test_repetitions_are_cells_and_aggregates_never_are(tmp_path: Path) -> None:
    records = read_json(
        tmp_path,
        suite(
            iteration("BM/8", 1, unit="s"),
            iteration("BM/8", 3, unit="s"),
            aggregate("BM/8", "mean", 2, "s"),
            aggregate("BM/8", "stddev", 1, "s"),
        ),
    )
    assert [values["time"] for values in cells(records)["BM/8"]] == [1.0, 3.0]
    (stated,) = only(Stated, records)
    assert (stated.figure, stated.metric, stated.value, stated.name) == ("mean", "time", 2.0, "mean")
    assert [note.text for note in only(Note, records)] == [
        "aggregates (means, medians and the like) that are no measurements: 2"
    ]


def test_a_mean_of_one_benchmark_among_several_is_no_mean_of_the_system(tmp_path: Path) -> None:
    rows = [iteration("A", 1, unit="s"), iteration("B", 1, unit="s"), aggregate("A", "mean", 5, "s")]
    records = read_json(tmp_path, suite(*rows))
    assert only(Stated, records) == []
    assert only(Note, records)[0].text == "a mean of 5 s is stated, and its repetitions have 1 s"


def test_a_benchmark_with_aggregates_alone_is_expected_and_missing(tmp_path: Path) -> None:
    fitted = {"name": "C_BigO", "run_name": "C", "run_type": "aggregate", "aggregate_name": "BigO", "big_o": "N"}
    records = read_json(tmp_path, suite(iteration("A", 1), aggregate("B", "mean", 1), fitted))
    assert [one.case.key for one in only(Expected, records)] == ["B"]
    assert set(cells(records)) == {"A"}


def test_aggregates_of_old_files_are_known_by_their_names(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"name": name, "real_time": 1, "cpu_time": 1} for name in ("A", "A", "A_mean", "x_mean")
    ]
    records = read_json(tmp_path, suite(*rows))
    # Nothing called `x` ran: `x_mean` is a benchmark of its own.
    assert {name: len(found) for name, found in cells(records).items()} == {"A": 2, "x_mean": 1}


def test_a_repetition_that_failed_is_a_failure_and_one_that_was_skipped_is_not_applicable(tmp_path: Path) -> None:
    failed = iteration("A", 0.0, error_occurred=True, error_message="no file")
    skipped = iteration("B", 0.0, skipped=True, skip_message="no GPU")
    first, second = only(Sample, read_json(tmp_path, suite(failed, skipped)))
    assert first.status is Status.DOMAIN_FAILURE
    assert first.failure is not None
    assert (first.failure.code, first.failure.message) == ("error_occurred", "no file")
    assert first.values == {}
    assert second.status is Status.SUCCESS
    assert set(second.missing.values()) == {MissingReason.NOT_APPLICABLE}


def test_counters_that_are_numbers_are_metrics(tmp_path: Path) -> None:
    row = iteration("A", 1, items_per_second=5.0, cache_misses=7, label="x", note="text", flag=True)
    records = read_json(tmp_path, suite(row))
    directions = {one.metric.name: one.metric.direction for one in only(MetricStated, records)}
    assert directions == {
        "time": "minimize",
        "cpu_time": "minimize",
        "items_per_second": "maximize",
        "cache_misses": "minimize",
    }
    assert cells(records)["A"][0]["cache_misses"] == 7.0


@pytest.mark.parametrize("stand_in", ["NaN", "Infinity", "-Infinity", "1.7976931348623157e+308"])
def test_what_stands_in_for_no_number_is_missing_with_a_reason(tmp_path: Path, stand_in: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(suite(iteration("A", "X", 2, "s"))).replace('"X"', stand_in))
    (sample,) = only(Sample, read(reader, path))
    assert sample.missing == {"time": MissingReason.NOT_FINITE}
    assert sample.values == {"cpu_time": 2.0}


def test_a_row_without_times_lacks_them(tmp_path: Path) -> None:
    (sample,) = only(Sample, read_json(tmp_path, suite({"name": "A", "run_type": "iteration"})))
    assert sample.missing == {"time": MissingReason.NOT_EMITTED, "cpu_time": MissingReason.NOT_EMITTED}


# --- damaged, foreign and contradictory files


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        (session(timed("a", [1.0]), timed("a", [2.0])), "benchmarks[1]", "stands at run.json: benchmarks[0] as well"),
        (session({"stats": {}}), "benchmarks[0]", "it has no name"),
        (session(timed("a", [1.0], data=["x"])), "benchmarks[0].stats.data[0]", "time is 'x', which is no number"),
        (session(timed("a", [1.0], data=[True])), "benchmarks[0].stats.data[0]", "time is 'True', which is no number"),
        (session(timed("a", [1.0], data=[-1.0])), "benchmarks[0].stats.data[0]", "below its declared lower bound"),
        (session(timed("a" * 2000, [1.0])), "benchmarks[0].stats.data[0]", "is 2017 bytes long"),
        (session(), "", "it holds no benchmark"),
        (suite(iteration("A", 1, unit="h")), "benchmarks[0]", "time_unit 'h' is none of ns, us, ms, s"),
        (suite({"name": 3}), "benchmarks[0]", "it has no name"),
        (suite(), "", "it holds no benchmark"),
        (results({"time_x": [[1.0], [["1", "2"]]]}), "results['time_x']", "1 results for 2 combinations"),
        (results({"time_x": [[1.0, 2.0], [["1", "1"]]]}), "results['time_x']", "a parameter has one value twice"),
        (results({"time_x": [[1.0], "p"]}), "results['time_x']", "its params are no lists of values"),
        (results({"time_x": 1.0}), "results['time_x']", "it holds float"),
        (
            results({"time_x": [None, [[str(n) for n in range(2000)]] * 3]}),
            "results['time_x']",
            "span 8000000000 cases",
        ),
        (results({"time_x": [[1.0], [], None, None, None, [[1.0], [2.0]]]}), "results['time_x'][0]", "no number"),
        (results({}), "", "it holds no benchmark"),
        (commands({"command": "x", "times": [1]}, {"command": "x", "times": [2]}), "results[1]", "stands at run.json"),
        (commands({"times": [1.0]}), "results[0]", "it has no command"),
        (commands({"command": "x", "measurements": [{"time_wall_clock": {"value": 1}}]}), "", "of unit None"),
        (commands(), "", "it holds no benchmark"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, document: Any, place: str, reason: str) -> None:
    refused = only(Refused, read_json(tmp_path, document))
    assert len(refused) >= 1
    assert refused[0].place.startswith(f"run.json: {place}" if place else "run.json")
    assert reason in refused[0].reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"[]", "it holds a list"),
        (b"3", "it holds a int"),
        (b"{}", "it has nothing"),
        (b'{"a": 1}', "it has 'a'"),
        (b'{"benchmarks": [,]}', "not JSON"),
        (b'{"benchmarks": "\xff"}', "not UTF-8"),
        (b'{"a.time_x": {"code": "", "name": "a.time_x"}, "version": 2}', "asv's own list"),
        (b'{"machine": "m", "arch": "x", "os": "y", "version": 1}', "asv's own list"),
    ],
)
def test_a_file_of_another_kind_ends_the_reading_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(IngestError) as raised:
        read(reader, tmp_path / "run.json")
    assert str(raised.value).startswith("run.json")
    assert reason in str(raised.value)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    "document",
    [
        session(timed("a", [1.0, 2.0])),
        suite(iteration("A", 1)),
        results({"time_x": [[1.0], []]}),
        commands({"command": "x", "times": [1.0]}),
    ],
)
def test_a_file_that_is_cut_off_ends_the_reading_by_name(tmp_path: Path, document: Any, share: float) -> None:
    content = json.dumps(document)
    (tmp_path / "run.json").write_text(content[: int(len(content) * share)])
    with pytest.raises(IngestError, match=r"^run\.json is cut off|^run\.json is not JSON"):
        read(reader, tmp_path / "run.json")


NAMES = st.sampled_from(
    [
        "benchmarks",
        "results",
        "commit_info",
        "commit_hash",
        "result_columns",
        "context",
        "stats",
        "data",
        "mean",
        "name",
        "fullname",
        "run_name",
        "run_type",
        "aggregate_name",
        "real_time",
        "time_unit",
        "error_occurred",
        "times",
        "exit_codes",
        "command",
        "measurements",
        "params",
        "result",
        "samples",
        "version",
        "started_at",
        "aggregate",
        "iteration",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=5),
    max_leaves=15,
)
ROWS = st.lists(st.dictionaries(NAMES | st.text(max_size=3), VALUES, max_size=8), max_size=3)
DOCUMENTS = (
    VALUES
    | st.builds(lambda rows: {"benchmarks": rows}, ROWS)
    | st.builds(lambda rows: {"benchmarks": rows, "commit_info": None}, ROWS)
    | st.builds(lambda rows: {"results": rows}, ROWS)
    | st.builds(lambda found: {"results": found, "commit_hash": 1}, st.dictionaries(st.text(max_size=3), VALUES))
    | st.builds(
        lambda rows: {"results": {"x": rows}, "commit_hash": 1, "result_columns": ["result", "params", "samples"]},
        st.lists(VALUES, max_size=3),
    )
)


@settings(deadline=None, max_examples=400, suppress_health_check=list(HealthCheck))
@given(DOCUMENTS)
def test_whatever_a_file_holds_ends_in_records_or_an_error_that_names_it(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    told = "run.json"
    try:
        records = read(reader, path)
    except IngestError as error:
        records, told = [], str(error)
    assert told.startswith("run.json")
    reader.recognizes(path)
    assert all(math.isfinite(value) for one in only(Sample, records) for value in one.values.values())


def test_results_are_recognized_and_lists_of_asv_are_not(tmp_path: Path) -> None:
    def recognized(document: Any, name: str = "x.json") -> bool:
        (tmp_path / name).write_text(document if isinstance(document, str) else json.dumps(document))
        return reader.recognizes(tmp_path / name)

    rounds = session(timed("a", [0.1] * 5000))
    assert recognized(rounds)
    assert recognized({name: rounds[name] for name in reversed(rounds)})
    assert recognized(suite(iteration("A", 1)))
    assert recognized({"benchmarks": [iteration("A", 1)]})
    assert recognized(results({"time_x": [[1.0], []]}))
    assert recognized(commands({"command": "x", "mean": 1.0}))
    assert not recognized(results({}), "benchmarks.json")
    assert not recognized({"results": {"results": []}, "version": 3})
    assert not recognized({"benchmarks": []})
    assert not recognized("not JSON")
    assert not recognized(suite(iteration("A", 1)), "x.txt")
    assert not reader.recognizes(tmp_path)


# --- public files


@needs_shared
def test_a_public_pair_of_google_benchmark_has_the_changes_that_its_names_say() -> None:
    folder = FOLDER / "google__benchmark/tools/gbench/Inputs"
    before, after = (cells(read(reader, folder / f"test1_run{number}.json")) for number in (1, 2))
    assert before.keys() == after.keys()
    change = {name: after[name][0]["time"] / before[name][0]["time"] for name in before}
    assert change["BM_2xFaster"] == pytest.approx(0.5)
    assert change["BM_10PercentSlower"] == pytest.approx(1.1)
    assert change["BM_100xSlower"] == pytest.approx(100)
    # One unit is a billionth of the other.
    assert change["BM_DifferentTimeUnit"] == pytest.approx(1e-9)


@needs_shared
def test_public_results_of_asv_have_the_figures_that_stand_in_them() -> None:
    folder = FOLDER / "kedro-org__kedro-benchmark-results/.asv/results/github-actions"
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        figures = [figure for row in document["results"].values() for figure in row[0] or [None]]
        samples = only(Sample, read(reader, path))
        assert [next(iter(one.values.values()), None) for one in samples] == figures


@needs_shared
def test_every_public_file_ends_in_records_or_an_error_that_names_it() -> None:
    for path in sorted(FOLDER.rglob("*.json")):
        if path.name == "benchmarks.json":
            with pytest.raises(IngestError, match=r"^benchmarks\.json is no results"):
                read(reader, path)
            continue
        assert reader.recognizes(path)
        records = read(reader, path)
        assert only(Refused, records) == []
        assert any(isinstance(record, Sample | Expected) for record in records)
