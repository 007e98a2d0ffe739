"""The long form: rows of one cell stand together or apart, and become one sample."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.core import MissingReason, Status
from opfield.ingest.readers.table import reader
from opfield.ingest.records import IngestError, MetricStated, Note, Record, Refused, Sample, System
from tests.ingest.reading import only, read

HOW: dict[str, Any] = {"candidate": "m", "case": ("id",), "metric-column": "metric", "value-column": "value"}


def _row(system: str, case: Any, metric: Any, value: Any, **more: Any) -> dict[str, Any]:
    return {"m": system, "id": case, "metric": metric, "value": value, **more}


def _read(path: Path, rows: list[dict[str, Any]], metrics: tuple[str, ...] = (), **options: Any) -> list[Record]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read(reader, path, metrics=metrics, **(HOW | options))


def test_rows_of_a_cell_become_one_sample_wherever_they_stand(tmp_path: Path) -> None:
    rows = [
        _row("a", 1, "f1", 0.5),
        _row("b", 1, "f1", 0.25),
        _row("a", "1", "f1", 0.75),
        _row("a", 1, "em", None),
        _row("b", 1, "em", 1),
    ]
    records = _read(tmp_path / "r.jsonl", rows)
    assert not only(Refused, records)
    assert [(s.place, s.system, s.case.key, s.values, s.missing) for s in only(Sample, records)] == [
        ("r.jsonl: line 1", "a", 1, {"f1": 0.5}, {"em": MissingReason.NOT_EMITTED}),
        ("r.jsonl: line 2", "b", 1, {"f1": 0.25, "em": 1.0}, {}),
        ("r.jsonl: line 3", "a", "1", {"f1": 0.75}, {}),
    ]
    assert [stated.metric.name for stated in only(MetricStated, records)] == ["f1", "em"]
    first = next(place for place, record in enumerate(records) if isinstance(record, Sample))
    assert not only(System, records[first:]) + only(MetricStated, records[first:])


def test_rows_of_a_cell_may_stand_in_two_files(tmp_path: Path) -> None:
    for name, metric in (("1.jsonl", "f1"), ("2.jsonl", "em")):
        (tmp_path / name).write_text(json.dumps(_row("a", 1, metric, 1)) + "\n")
    (sample,) = only(Sample, read(reader, tmp_path / "1.jsonl", tmp_path / "2.jsonl", **HOW))
    assert sample.values == {"f1": 1.0, "em": 1.0}


def test_rows_without_numbered_repeats_that_stand_twice_are_two_samples(tmp_path: Path) -> None:
    rows = [_row("a", 1, "f1", 0.5), _row("a", 1, "em", 1), _row("a", 1, "f1", 0.5), _row("a", 1, "em", 0)]
    samples = only(Sample, _read(tmp_path / "r.jsonl", rows))
    assert [(s.place, s.values) for s in samples] == [
        ("r.jsonl: line 1", {"f1": 0.5, "em": 1.0}),
        ("r.jsonl: line 3", {"f1": 0.5, "em": 0.0}),
    ]


def test_a_metric_that_stands_twice_where_another_does_not_is_refused_with_both_places(tmp_path: Path) -> None:
    rows = [_row("a", 1, "f1", 0.5), _row("a", 1, "em", 1), _row("a", 1, "f1", 0.6)]
    records = _read(tmp_path / "r.jsonl", rows)
    assert not only(Sample, records)
    (refused,) = only(Refused, records)
    assert (refused.place, refused.reason) == (
        "r.jsonl: line 3",
        "metric 'f1' of this cell stands at r.jsonl: line 1 already",
    )


def test_repeats_part_cells(tmp_path: Path) -> None:
    rows = [_row("a", 1, "f1", 0.5, seed=0), _row("a", 1, "f1", 0.6, seed=1)]
    samples = only(Sample, _read(tmp_path / "r.jsonl", rows, repeat="seed"))
    assert [(sample.repeat, sample.values) for sample in samples] == [(0, {"f1": 0.5}), (1, {"f1": 0.6})]


def test_a_metric_that_was_not_asked_for_leaves_its_cell_in_the_denominator(tmp_path: Path) -> None:
    rows = [_row("a", 1, "f1", 0.5), _row("a", 2, "other", 0.5), _row("a", 2, "more", 0.5)]
    records = _read(tmp_path / "r.jsonl", rows, metrics=("f1",))
    assert [(sample.case.key, sample.values) for sample in only(Sample, records)] == [(1, {"f1": 0.5}), (2, {})]


def test_a_metric_that_no_row_has_is_refused_with_those_met(tmp_path: Path) -> None:
    records = _read(tmp_path / "r.jsonl", [_row("a", 1, "f1", 0.5)], metrics=("f1", "em"))
    assert [refused.reason for refused in only(Refused, records)] == ["no row has the metric 'em'; met: f1"]


def test_a_failed_row_fails_its_cell(tmp_path: Path) -> None:
    rows = [_row("a", 1, "f1", 0.5, e=None), _row("a", 1, "em", None, e="judge: 429")]
    (sample,) = only(Sample, _read(tmp_path / "r.jsonl", rows, error="e"))
    assert sample.status is Status.INFRASTRUCTURE_FAILURE
    assert sample.failure is not None
    assert sample.failure.message == "judge: 429"
    assert sample.values == {"f1": 0.5}


@pytest.mark.parametrize(
    ("role", "first", "second"),
    [
        ("input", "2+2", "2+3"),
        ("cost", 1, 2),
        ("cluster", "x", "y"),
        ("group", "x", "y"),
        ("status", "cancelled", "domain_failure"),
    ],
)
def test_what_rows_say_of_their_cell_must_agree(tmp_path: Path, role: str, first: Any, second: Any) -> None:
    rows = [_row("a", 1, "f1", 0.5, x=first), _row("a", 1, "em", 1, x=second)]
    option: Any = ("x",) if role == "group" else "x"
    records = _read(tmp_path / "r.jsonl", rows, **{role: option})
    (refused,) = only(Refused, records)
    assert (refused.place, role in refused.reason) == ("r.jsonl: line 2", True)
    rows[1]["x"] = first
    (sample,) = only(Sample, _read(tmp_path / "r.jsonl", rows, **{role: option}))
    assert sample.content == rows


@pytest.mark.parametrize("metric", [None, "", True, 0.5, "x" * 300, "a\0b"])
def test_what_cannot_name_a_metric_is_refused(tmp_path: Path, metric: Any) -> None:
    (refused,) = only(Refused, _read(tmp_path / "r.jsonl", [_row("a", 1, metric, 0.5)]))
    assert refused.place == "r.jsonl: line 1"


def test_both_columns_of_the_long_form_are_needed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"value-column": None}
    with pytest.raises(IngestError, match="both --metric-column and --value-column"):
        _read(tmp_path / "r.jsonl", [], **options)


def test_a_full_disk_or_a_bad_folder_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opfield.ingest.tables.long_form._GROUPED", "select * from nowhere")
    with pytest.raises(IngestError, match="make room there, or point TMPDIR elsewhere"):
        _read(tmp_path / "r.jsonl", [_row("a", 1, "f1", 0.5)])


@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_no_cell(tmp_path_factory: pytest.TempPathFactory, seed: int, cases: int) -> None:
    rows = [
        _row(m, case, metric, hash((m, case, metric)) % 97) for m in "ab" for case in range(cases) for metric in "xyz"
    ]
    wide = {(row["m"], row["id"]): {} for row in rows}  # type: dict[tuple[str, int], dict[str, float]]
    for row in rows:
        wide[row["m"], row["id"]][row["metric"]] = float(row["value"])
    random.Random(seed).shuffle(rows)
    records = _read(tmp_path_factory.mktemp("long") / "r.jsonl", rows)
    assert not only(Note, records) + only(Refused, records)
    assert {(s.system, s.case.key): dict(s.values) for s in only(Sample, records)} == wide
    assert len(only(Sample, records)) == len(wide)


def test_more_rows_than_one_batch_holds_are_grouped_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opfield.ingest.tables.long_form._FLUSH_ROWS", 100)
    rows = [_row("a", case, metric, case) for metric in "xy" for case in range(1500)]
    samples = only(Sample, _read(tmp_path / "r.jsonl", rows))
    assert [sample.case.key for sample in samples] == list(range(1500))
    assert all(sample.values == {"x": sample.case.key, "y": sample.case.key} for sample in samples)
