"""The table reader: what rows become under a mapping, in every format alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from opfield.core import MissingReason, Status
from opfield.ingest.readers.table import reader
from opfield.ingest.records import IngestError, MetricStated, Note, Refused, Sample, System
from tests.ingest.reading import only, read
from tests.ingest.table_files import (
    FORMATS,
    write_csv,
    write_jsonl,
    write_parquet,
)

ROWS: list[dict[str, Any]] = [
    {"model": "old", "id": "a", "seed": 1, "score": 0.25, "text": "x"},
    {"model": "old", "id": "b", "seed": 1, "score": None, "text": "y"},
    {"model": "new", "id": "a", "seed": 1, "score": 0.75, "text": "z"},
]
HOW: dict[str, Any] = {"candidate": "model", "case": ("id",), "repeat": "seed"}


TYPED = ["jsonl", "json", "parquet", "feather", "arrows"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_gives_the_same_systems_cases_and_values(tmp_path: Path, suffix: str) -> None:
    FORMATS[suffix](tmp_path / f"run.{suffix}", ROWS)
    records = read(reader, tmp_path / f"run.{suffix}", metrics=("score",), **HOW)
    assert not only(Refused, records)
    assert [(system.key, system.says) for system in only(System, records)] == [
        ("old", {"candidate": "old"}),
        ("new", {"candidate": "new"}),
    ]
    samples = only(Sample, records)
    assert [(s.system, s.case.key, dict(s.values), dict(s.missing)) for s in samples] == [
        ("old", "a", {"score": 0.25}, {}),
        ("old", "b", {}, {"score": MissingReason.NOT_EMITTED}),
        ("new", "a", {"score": 0.75}, {}),
    ]
    assert [s.repeat for s in samples] == ["1" if suffix == "csv" else 1] * 3


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_is_recognized_by_its_name_and_first_bytes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.{suffix}"
    FORMATS[suffix](path, ROWS)
    assert reader.recognizes(path)
    path.write_bytes(b"")
    assert not reader.recognizes(path)
    assert not reader.recognizes(tmp_path)


def test_a_json_document_that_is_no_array_is_not_taken_for_a_table(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text('{"results": []}')
    assert not reader.recognizes(tmp_path / "log.json")


@pytest.mark.parametrize(
    ("suffix", "places"),
    [
        ("csv", ["run.csv: line 2", "run.csv: line 3", "run.csv: line 4"]),
        ("jsonl", ["run.jsonl: line 1", "run.jsonl: line 2", "run.jsonl: line 3"]),
        ("json", ["run.json: [0]", "run.json: [1]", "run.json: [2]"]),
        ("parquet", ["run.parquet: row 1", "run.parquet: row 2", "run.parquet: row 3"]),
    ],
)
def test_each_sample_says_where_it_stands(tmp_path: Path, suffix: str, places: list[str]) -> None:
    FORMATS[suffix](tmp_path / f"run.{suffix}", ROWS)
    samples = only(Sample, read(reader, tmp_path / f"run.{suffix}", metrics=("score",), **HOW))
    assert [sample.place for sample in samples] == places


def test_json_rows_are_kept_whole_and_others_keep_what_is_not_mapped(tmp_path: Path) -> None:
    for suffix, content in {"jsonl": ROWS[0], "csv": {"text": "x"}, "parquet": {"text": "x"}}.items():
        FORMATS[suffix](tmp_path / f"run.{suffix}", ROWS)
        samples = only(Sample, read(reader, tmp_path / f"run.{suffix}", metrics=("score",), **HOW))
        assert samples[0].content == content


def test_without_a_candidate_column_each_file_is_a_system_even_under_one_name(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_csv(tmp_path / folder / "run.csv", ROWS[:1])
    records = read(reader, tmp_path / "one" / "run.csv", tmp_path / "two" / "run.csv", metrics=("score",), case=("id",))
    assert [system.key for system in only(System, records)] == ["run.csv", "run.csv (2)"]
    assert [sample.system for sample in only(Sample, records)] == ["run.csv", "run.csv (2)"]


def test_a_system_in_two_files_is_announced_once_and_before_its_first_sample(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        write_csv(tmp_path / name, ROWS)
    records = read(reader, tmp_path / "1.csv", tmp_path / "2.csv", metrics=("score",), **HOW)
    kinds = [
        (type(r), getattr(r, "key", getattr(r, "system", None))) for r in records if isinstance(r, System | Sample)
    ]
    assert [key for kind, key in kinds if kind is System] == ["old", "new"]
    assert kinds.index((System, "new")) < kinds.index((Sample, "new"))


def test_without_repeats_a_second_row_has_no_repeat(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [ROWS[0], ROWS[0]])
    samples = only(Sample, read(reader, tmp_path / "r.jsonl", metrics=("score",), case=("id",)))
    assert [sample.repeat for sample in samples] == [None, None]


@pytest.mark.parametrize("suffix", TYPED)
def test_keys_keep_their_type(tmp_path: Path, suffix: str) -> None:
    for key in (1, "1"):
        FORMATS[suffix](tmp_path / f"r.{suffix}", [{"id": key, "s": 1}])
        (sample,) = only(Sample, read(reader, tmp_path / f"r.{suffix}", metrics=("s",), case=("id",)))
        assert (type(sample.case.key), sample.case.key) == (type(key), key)


def test_a_json_column_of_1_and_text_1_gives_two_keys(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 1}, {"id": "1", "s": 1}])
    samples = only(Sample, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",)))
    assert [sample.case.key for sample in samples] == [1, "1"]


def test_csv_keys_are_texts_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s\n007,1\n7,1\n1.0,1\nNA,1\n")
    samples = only(Sample, read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",)))
    assert [sample.case.key for sample in samples] == ["007", "7", "1.0", "NA"]


def test_a_key_of_several_columns_keeps_their_borders_and_types(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"a": "x,y", "b": 1, "s": 1}, {"a": "x", "b": "y,1", "s": 1}])
    samples = only(Sample, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("a", "b")))
    assert [json.loads(str(sample.case.key)) for sample in samples] == [["x,y", 1], ["x", "y,1"]]


def test_whole_floats_as_keys_are_integers_and_a_note_says_so(tmp_path: Path) -> None:
    write_parquet(tmp_path / "r.parquet", [{"id": 3.0, "s": 1}, {"id": 4.0, "s": 1}])
    records = read(reader, tmp_path / "r.parquet", metrics=("s",), case=("id",))
    keys = [sample.case.key for sample in only(Sample, records)]
    assert keys == [3, 4]
    assert all(type(key) is int for key in keys)
    assert "keys in id are whole numbers written as floats" in only(Note, records)[0].text


@pytest.mark.parametrize("key", [None, "", "  ", "NaN", True, 1.5, 2.0**60, [1], {"a": 1}, "a\0b", "x" * 2000])
def test_what_cannot_be_a_key_is_refused_with_its_line(tmp_path: Path, key: Any) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": "fine", "s": 1}, {"id": key, "s": 1}])
    records = read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",))
    (refused,) = only(Refused, records)
    assert refused.place == "r.jsonl: line 2"
    assert "'id'" in refused.reason
    assert len(refused.reason) < 200


def test_nan_keys_and_bytes_of_parquet_are_refused(tmp_path: Path) -> None:
    for column in (pa.array([float("nan")]), pa.array([b"a"]), pa.array([None], pa.string()), pa.array([True])):
        pq.write_table(pa.table({"id": column, "s": [1]}), tmp_path / "r.parquet")
        (refused,) = only(Refused, read(reader, tmp_path / "r.parquet", metrics=("s",), case=("id",)))
        assert refused.place == "r.parquet: row 1"


@pytest.mark.parametrize(
    ("column", "key"),
    [
        (pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")), "2023-11-14T22:13:20.123456789"),
        (pa.array([1_700_000_000_000_000_000], pa.timestamp("ns", "Europe/Berlin")), "2023-11-14T22:13:20+00:00"),
        (pa.array([1_700_000_000], pa.timestamp("s", "America/New_York")), "2023-11-14T22:13:20+00:00"),
        (pa.array([1_700_000_000_500], pa.timestamp("ms")), "2023-11-14T22:13:20.500000"),
        (pa.array([19_000], pa.date32()), "2022-01-08"),
        (pa.array(["a"]).dictionary_encode(), "a"),
        (pa.array([2**63], pa.uint64()), 2**63),
        (pa.array([7], pa.decimal128(20, 0)), 7),
    ],
)
def test_times_are_iso_text_as_keys_and_integers_of_all_kinds_are_integers(
    tmp_path: Path, column: pa.Array, key: str | int
) -> None:
    pq.write_table(pa.table({"id": column, "s": [1]}), tmp_path / "r.parquet")
    (sample,) = only(Sample, read(reader, tmp_path / "r.parquet", metrics=("s",), case=("id",)))
    assert sample.case.key == key


@pytest.mark.parametrize(
    ("stored", "value", "missing"),
    [
        (True, 1.0, None),
        (False, 0.0, None),
        (3, 3.0, None),
        (2**70, float(2**70), None),
        ("0.5", 0.5, None),
        (" -1e-3 ", -0.001, None),
        ("True", 1.0, None),
        (None, None, "not_emitted"),
        ("", None, "not_emitted"),
        ("NA", None, "not_emitted"),
        ("null", None, "not_emitted"),
        ("None", None, "not_emitted"),
        (float("nan"), None, "not_finite"),
        (float("inf"), None, "not_finite"),
        ("NaN", None, "not_finite"),
        ("-Infinity", None, "not_finite"),
        (1.7976931348623157e308, None, "not_finite"),
        (-1e100, None, "not_finite"),
        (10**400, None, "not_finite"),
        ("1e400", None, "not_finite"),
    ],
)
def test_what_stands_for_no_number_is_missing_with_its_reason(
    tmp_path: Path, stored: Any, value: float | None, missing: str | None
) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": "a", "s": stored}])
    (sample,) = only(Sample, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",)))
    assert sample.values.get("s") == value
    assert sample.missing.get("s") == missing
    assert sample.status is Status.SUCCESS


def test_a_number_too_large_to_be_measured_is_told_of(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 2}, {"id": 2, "s": 1.7e308}, {"id": 3, "s": 1.7e308}])
    (note,) = only(Note, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",)))
    assert note.place == "r.jsonl: line 2"
    assert "beyond 1e100" in note.text
    assert "2 rows" in note.text


def test_decimals_are_numbers_and_lists_and_structs_are_not(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "s": pa.array([25], pa.decimal256(60, 2))}), tmp_path / "r.parquet")
    (sample,) = only(Sample, read(reader, tmp_path / "r.parquet", metrics=("s",), case=("id",)))
    assert sample.values == {"s": 25.0}
    for value in ([1], {"a": 1}, b"1"):
        pq.write_table(pa.table({"id": ["a"], "s": [value]}), tmp_path / "r.parquet")
        (refused,) = only(Refused, read(reader, tmp_path / "r.parquet", metrics=("s",), case=("id",)))
        assert "which is no number" in refused.reason


@pytest.mark.parametrize("text", ["abc", "1,5", "85%", "1_000", "0x10", "١"])
def test_text_that_is_no_number_is_refused_with_line_and_value(tmp_path: Path, text: str) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 2}, {"id": 2, "s": text}])
    (refused,) = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",)))
    assert refused.place == "r.jsonl: line 2"
    assert repr(text) in refused.reason
    assert "'s'" in refused.reason


def test_mixed_numbers_and_numeric_texts_are_read_and_told_of(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 2}, {"id": 2, "s": "0.5"}])
    records = read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",))
    assert [sample.values["s"] for sample in only(Sample, records)] == [2.0, 0.5]
    assert only(Note, records)[0].place == "r.jsonl: line 2"


def test_many_refusals_of_one_kind_are_cut_to_a_few_and_counted(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": None, "s": 2}] * 5000)
    refused = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",)))
    assert len(refused) == 6
    assert "5000 rows in all" in refused[-1].reason


def test_a_column_that_is_all_null_in_one_file_and_text_in_the_next_is_read_in_each(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "s": [1.0], "e": pa.nulls(1)}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": ["a"], "s": [1.0], "e": ["timed out"]}), tmp_path / "2.parquet")
    records = read(reader, tmp_path / "1.parquet", tmp_path / "2.parquet", metrics=("s",), case=("id",), error="e")
    assert [sample.status for sample in only(Sample, records)] == [Status.SUCCESS, Status.INFRASTRUCTURE_FAILURE]


def test_a_metric_that_one_file_lacks_is_missing_there_and_told_of(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "1.jsonl", [{"id": 1, "s": 2, "t": 1}])
    write_csv(tmp_path / "2.csv", [{"id": 1, "s": 2}])
    records = read(reader, tmp_path / "1.jsonl", tmp_path / "2.csv", metrics=("s", "t"), case=("id",))
    assert not only(Refused, records)
    assert only(Sample, records)[1].missing == {"t": MissingReason.NOT_EMITTED}
    (note,) = only(Note, records)
    assert (note.place, "'t'" in note.text) == ("2.csv", True)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["scroe", "model.name"])
def test_a_metric_that_no_file_has_is_refused_with_the_nearest_name(tmp_path: Path, suffix: str, name: str) -> None:
    FORMATS[suffix](tmp_path / f"r.{suffix}", ROWS)
    (refused,) = only(Refused, read(reader, tmp_path / f"r.{suffix}", metrics=(name,), **HOW))
    assert name in refused.reason
    assert "score" in refused.reason
    assert ("'score'" in refused.remedy) == (name == "scroe")


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_case_column_that_is_not_there_is_refused_with_what_is(tmp_path: Path, suffix: str) -> None:
    FORMATS[suffix](tmp_path / f"r.{suffix}", ROWS)
    records = read(reader, tmp_path / f"r.{suffix}", metrics=("score",), case=("question",))
    assert not only(Sample, records)
    assert "there is no column 'question'" in only(Refused, records)[0].reason
    assert "seed" in only(Refused, records)[0].reason


@pytest.mark.parametrize("suffix", FORMATS)
def test_where_no_metric_is_named_the_columns_of_numbers_are_listed(tmp_path: Path, suffix: str) -> None:
    FORMATS[suffix](tmp_path / f"r.{suffix}", [row | {"latency": 3} for row in ROWS])
    with pytest.raises(IngestError, match=r"columns of numbers in r\.\w+: score, latency$"):
        read(reader, tmp_path / f"r.{suffix}", **HOW)


def test_members_of_objects_are_columns_by_their_dotted_names(tmp_path: Path) -> None:
    rows = [{"id": 1, "scores": {"f1": 0.5, "em": 1}, "usage": {"usd": 0.01}}]
    for suffix in ("jsonl", "parquet"):
        FORMATS[suffix](tmp_path / f"r.{suffix}", rows)
        records = read(reader, tmp_path / f"r.{suffix}", metrics=("scores.f1",), case=("id",), cost="usage.usd")
        (sample,) = only(Sample, records)
        assert (sample.values, sample.cost_usd) == ({"scores.f1": 0.5}, 0.01)


def test_a_candidate_that_is_a_number_here_and_text_there_is_refused_with_both_places(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"m": 1, "id": 1, "s": 1}, {"m": "1", "id": 1, "s": 1}])
    (refused,) = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), candidate="m"))
    assert refused.place == "r.jsonl: line 2"
    assert "r.jsonl: line 1" in refused.reason


def test_columns_that_describe_a_system_must_be_constant_for_it(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"m": "a", "t": 0.1, "id": 1, "s": 1},
        {"m": "b", "t": 0.2, "id": 1, "s": 1},
        {"m": "a", "t": 0.3, "id": 2, "s": 1},
    ]
    write_jsonl(tmp_path / "r.jsonl", rows)
    records = read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), candidate="m", says=("t",))
    assert [system.says for system in only(System, records)] == [
        {"candidate": "a", "t": 0.1},
        {"candidate": "b", "t": 0.2},
    ]
    (refused,) = only(Refused, records)
    assert refused.place == "r.jsonl: line 3"
    assert "0.1 at r.jsonl: line 1" in refused.reason


def test_what_else_a_row_says_is_kept(tmp_path: Path) -> None:
    row = {
        "id": 1, "s": 1, "task": "math", "q": "2+2?", "level": "hard", "doc": 7, "usd": 0.5, "in": 10, "out": 3.0,
        "sec": 1.5, "t0": "2026-01-01T00:00:00Z", "t1": "2026-01-01T00:00:02+00:00",
    }  # fmt: skip
    write_jsonl(tmp_path / "r.jsonl", [row])
    options = {"input-tokens": "in", "output-tokens": "out"}
    (sample,) = only(
        Sample,
        read(
            reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), suite="task", input="q", group=("level",),
            cluster="doc", cost="usd", duration="sec", started="t0", finished="t1", **options,
        ),
    )  # fmt: skip
    assert (sample.case.suite, sample.input, sample.groups, sample.cluster) == ("math", "2+2?", {"level": "hard"}, "7")
    assert (sample.cost_usd, sample.input_tokens, sample.output_tokens, sample.duration_s) == (0.5, 10, 3, 1.5)
    assert (sample.started_at, sample.finished_at) == (row["t0"], row["t1"])


@pytest.mark.parametrize("absent", [None, "", "NA", float("nan")])
def test_what_a_row_does_not_say_is_unknown_and_never_zero(tmp_path: Path, absent: Any) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 1, "usd": absent, "in": absent, "g": None, "t": ""}])
    options: dict[str, Any] = {"input-tokens": "in", "group": ("g",), "started": "t"}
    (sample,) = only(Sample, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), cost="usd", **options))
    assert (sample.cost_usd, sample.input_tokens, sample.groups, sample.started_at) == (None, None, {}, None)


@pytest.mark.parametrize(
    ("role", "value"),
    [("cost", -1), ("input-tokens", 1.5), ("duration", "fast"), ("started", 1700000000), ("started", "soon")],
)
def test_amounts_and_times_that_cannot_be_are_refused(tmp_path: Path, role: str, value: Any) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 1, "x": value}])
    (refused,) = only(Refused, read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), **{role: "x"}))
    assert "'x'" in refused.reason
    assert refused.place == "r.jsonl: line 1"


def test_a_text_of_an_error_is_a_failure_and_keeps_its_values(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s,e\n1,1,\n2,,boom\n3,0.5,NaN\n")
    for errors in (None, "domain_failure"):
        samples = only(Sample, read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",), error="e", errors=errors))
        failure = Status(errors or "infrastructure_failure")
        assert [sample.status for sample in samples] == [Status.SUCCESS, failure, Status.SUCCESS]
        assert samples[1].failure is not None
        assert (samples[1].failure.code, samples[1].failure.message) == ("error", "boom")
        assert (samples[0].failure, samples[2].failure) == (None, None)


def test_a_status_is_one_of_the_four_and_anything_else_is_refused_with_them(tmp_path: Path) -> None:
    statuses = ["success", "domain_failure", "infrastructure_failure", "cancelled", "ok", None]
    write_jsonl(tmp_path / "r.jsonl", [{"id": number, "s": 1, "st": status} for number, status in enumerate(statuses)])
    records = read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), status="st")
    assert [sample.status for sample in only(Sample, records)] == [Status(str(status)) for status in statuses[:4]]
    assert [refused.place for refused in only(Refused, records)] == ["r.jsonl: line 5", "r.jsonl: line 6"]
    assert "'ok'; known: success, domain_failure, infrastructure_failure, cancelled" in only(Refused, records)[0].reason


def test_an_error_beside_a_status_of_success_is_a_failure_and_told_of(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"id": 1, "s": 1, "st": "success", "e": "boom"}])
    records = read(reader, tmp_path / "r.jsonl", metrics=("s",), case=("id",), status="st", error="e")
    assert only(Sample, records)[0].status is Status.INFRASTRUCTURE_FAILURE
    assert "count as failures" in only(Note, records)[0].text


def test_metrics_have_plain_definitions_unless_declared(tmp_path: Path) -> None:
    write_csv(tmp_path / "r.csv", ROWS)
    (stated,) = only(MetricStated, read(reader, tmp_path / "r.csv", metrics=("score",), **HOW))
    metric = stated.metric
    assert (metric.name, metric.direction, metric.kind, metric.lower, metric.upper) == (
        "score", "maximize", "continuous", None, None,
    )  # fmt: skip


def test_a_header_without_rows_announces_the_system_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s\n")
    records = read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",))
    assert [system.key for system in only(System, records)] == ["r.csv"]
    assert only(Note, records)[0].text == "the file has a header and no rows"
