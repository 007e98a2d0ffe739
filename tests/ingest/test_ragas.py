"""Ragas exports: the question is the case, the columns of numbers are the metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from opfield.core import MissingReason
from opfield.ingest.readers.ragas import reader
from opfield.ingest.records import IngestError, MetricStated, Refused, Sample, System
from tests.ingest.reading import only, read

ROWS: list[dict[str, Any]] = [
    {"user_input": "what?", "retrieved_contexts": "['a']", "response": "x", "reference": "1", "faithfulness": 0.5,
     "answer_relevancy": None},
    {"user_input": "why?", "retrieved_contexts": "['b']", "response": "y", "reference": "2", "faithfulness": 1.0,
     "answer_relevancy": 0.25},
]  # fmt: skip


def test_an_export_gives_its_questions_and_scores(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv(tmp_path / "run.csv")
    records = read(reader, tmp_path / "run.csv")
    assert not only(Refused, records)
    assert [stated.metric.name for stated in only(MetricStated, records)] == ["faithfulness", "answer_relevancy"]
    first, second = only(Sample, records)
    assert (first.case.key, first.input, first.values) == ("what?", "what?", {"faithfulness": 0.5})
    assert first.missing == {"answer_relevancy": MissingReason.NOT_EMITTED}
    assert second.values == {"faithfulness": 1.0, "answer_relevancy": 0.25}
    assert second.content == {"retrieved_contexts": "['b']", "response": "y", "reference": "2"}


def test_two_files_are_two_systems_over_one_set_of_metrics(tmp_path: Path) -> None:
    for name, extra in (("old.jsonl", {}), ("new.jsonl", {"recall": 1})):
        (tmp_path / name).write_text("".join(json.dumps(row | extra) + "\n" for row in ROWS))
    records = read(reader, tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    assert [system.key for system in only(System, records)] == ["old.jsonl", "new.jsonl"]
    assert only(Sample, records)[0].missing["recall"] is MissingReason.NOT_EMITTED
    assert len({stated.metric.name for stated in only(MetricStated, records)}) == 3


def test_a_column_of_ids_may_be_the_case_and_is_no_metric(tmp_path: Path) -> None:
    pl.DataFrame([row | {"qid": number} for number, row in enumerate(ROWS)]).write_parquet(tmp_path / "run.parquet")
    records = read(reader, tmp_path / "run.parquet", case=("qid",))
    assert [sample.case.key for sample in only(Sample, records)] == [0, 1]
    assert "qid" not in only(Sample, records)[0].values


def test_the_older_names_of_columns_are_read(tmp_path: Path) -> None:
    pl.DataFrame([{"question": "q", "answer": "a", "contexts": "c", "recall": 1}]).write_csv(tmp_path / "run.csv")
    (sample,) = only(Sample, read(reader, tmp_path / "run.csv"))
    assert (sample.case.key, sample.values) == ("q", {"recall": 1.0})


def test_files_that_cannot_be_read_together_or_at_all_are_refused(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("user_input,recall\nq,1\n")
    (tmp_path / "old.csv").write_text("question,recall\nq,1\n")
    (tmp_path / "none.csv").write_text("id,recall\nq,1\n")
    (tmp_path / "bare.csv").write_text("user_input,response\nq,a\n")
    for names, told in (
        (["new.csv", "old.csv"], "calls the question question, and the others user_input"),
        (["none.csv"], r"none\.csv is no export of Ragas"),
        (["bare.csv"], "no column of numbers beside the samples"),
    ):
        with pytest.raises(IngestError, match=told):
            read(reader, *(tmp_path / name for name in names))


def test_its_exports_are_recognized_and_other_tables_are_not(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv(tmp_path / "run.csv")
    assert reader.recognizes(tmp_path / "run.csv")
    (tmp_path / "other.csv").write_text("id,score\n")
    assert not reader.recognizes(tmp_path / "other.csv")
