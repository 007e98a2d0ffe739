"""Every row of a table is a sample or a refusal, and public tables are read as polars reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.ingest.readers.table import reader
from opfield.ingest.records import Reading, Refused, Sample, Source
from tests.ingest.reading import SHARED, needs_shared, only, read
from tests.ingest.table_files import FORMATS, write_jsonl

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(-(2**53), 2**53), TEXTS),
            st.one_of(st.none(), st.floats(-1e99, 1e99)),
        ),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=60, deadline=None)
def test_every_row_is_a_sample_or_a_refusal_and_values_are_exact(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | int, float | None]]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "r.jsonl"
    write_jsonl(path, [{"id": key, "s": value} for key, value in rows])
    records = read(reader, path, metrics=("s",), case=("id",))
    expected = [(key, value) for key, value in rows if isinstance(key, int) or (key.strip() and key.lower() != "nan")]
    assert [(sample.case.key, sample.values.get("s")) for sample in only(Sample, records)] == expected


@needs_shared
def test_the_same_run_as_polars_sees_it() -> None:
    path = SHARED / "trec/AmenRa__ranx/tests/unit/ranx/test_data/run.parquet"
    samples = only(Sample, read(reader, path, metrics=("score",), case=("q_id", "doc_id")))
    expected = [(json.dumps([q, d], separators=(",", ":")), s) for q, d, s in pl.read_parquet(path).iter_rows()]
    assert [(sample.case.key, sample.values["score"]) for sample in samples] == expected


@needs_shared
@pytest.mark.parametrize(("arm", "count"), [("baseline", 42), ("polydev", 40)])
def test_costs_of_a_real_log_add_up_to_what_polars_adds_up(arm: str, count: int) -> None:
    path = SHARED / "swebench/backspacevenkat__polydev-swe-bench/results" / arm / "metrics.jsonl"
    records = read(
        reader, path, metrics=("metrics.turns",), case=("instance_id",), error="error", cost="metrics.cost_usd",
        duration="metrics.duration_sec",
    )  # fmt: skip
    assert not only(Refused, records)
    samples = only(Sample, records)
    assert len(samples) == count
    frame = pl.read_ndjson(path, infer_schema_length=None).unnest("metrics")
    assert [sample.cost_usd for sample in samples] == frame["cost_usd"].to_list()
    assert [sample.values["metrics.turns"] for sample in samples] == frame["turns"].to_list()


def test_progress_adds_up_to_the_size_of_the_files(tmp_path: Path) -> None:
    for suffix in ("csv", "jsonl", "parquet", "feather", "arrows"):
        path = tmp_path / f"r.{suffix}"
        FORMATS[suffix](path, [{"id": number, "s": 1} for number in range(5000)])
        told: list[int] = []
        advance: Callable[[int], None] = told.append
        list(reader.read(Reading([Source(path, path.name)], {"case": ("id",)}, ("s",), advance)))
        assert 0.8 * path.stat().st_size <= sum(told) <= path.stat().st_size, suffix
