"""From tables to verdicts: the comparison of a campaign equals one that polars makes of the same files."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import opfield as of
from opfield.ingest.commit import ingest
from opfield.ingest.readers.swebench import reader as swebench
from opfield.ingest.readers.table import reader as table
from opfield.ingest.records import Reader
from opfield.ingest.request import Request
from opfield.ingest.sources import Asked
from tests.ingest.reading import SHARED, needs_shared


def _comparison(
    root: Path, reader: Reader, paths: list[Path], baseline: str, options: Mapping[str, Any], metric: str
) -> dict[str, Any]:
    values = {option.name: option.default for option in reader.options} | dict(options)
    asked = Asked(reader, tuple(paths), values)
    taken = ingest(Request((asked,), baseline, metrics=(metric,)), root)
    assert ingest(Request((asked,), baseline, metrics=(metric,)), root).appended == 0
    query = "select pairs, missing, baseline_mean, candidate_mean, mean_delta from comparisons"
    (found,) = of.open(taken.root).sql(query).pl().to_dicts()
    return dict(found)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_a_table_with_gaps_is_compared_as_polars_compares_it(tmp_path: Path, form: str) -> None:
    dice = random.Random(5)
    rows = [
        {"model": model, "question": question, "score": None if dice.random() < 0.1 else round(dice.random(), 3)}
        for question in range(200)
        for model in ("old", "new")
    ]
    frame = pl.DataFrame(rows, schema={"model": pl.String, "question": pl.Int64, "score": pl.Float64})
    options: dict[str, Any] = {"candidate": "model", "case": ("question",)}
    if form == "wide":
        frame.write_parquet(tmp_path / "results.parquet")
    else:
        frame = frame.with_columns(metric=pl.lit("score"))
        frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "results.parquet")
        options |= {"metric-column": "metric", "value-column": "score"}
    found = _comparison(tmp_path / "wh", table, [tmp_path / "results.parquet"], "old", options, "score")
    paired = frame.pivot(on="model", index="question", values="score").drop_nulls()
    assert found["pairs"] == paired.height < 200
    assert found["missing"] == 200 - paired.height
    assert found["baseline_mean"] == pytest.approx(paired["old"].mean(), abs=1e-12)
    assert found["candidate_mean"] == pytest.approx(paired["new"].mean(), abs=1e-12)
    assert found["mean_delta"] == pytest.approx((paired["new"] - paired["old"]).mean(), abs=1e-12)


@needs_shared
def test_a_real_pair_of_swebench_reports_is_compared_as_its_lists_say(tmp_path: Path) -> None:
    folder = SHARED / "swebench/backspacevenkat__polydev-swe-bench"
    names = [f"claude-haiku-4-5-20251001.validation-{arm}-eval" for arm in ("baseline", "polydev")]
    old, new = (json.loads((folder / f"{name}.json").read_text()) for name in names)
    errors = {*old["error_ids"], *new["error_ids"]}
    both = [instance for instance in old["submitted_ids"] if instance not in errors]
    before = sum(instance in old["resolved_ids"] for instance in both) / len(both)
    after = sum(instance in new["resolved_ids"] for instance in both) / len(both)
    paths = [folder / f"{name}.json" for name in names]
    found = _comparison(tmp_path / "wh", swebench, paths, names[0], {}, "resolved")
    assert (found["pairs"], found["missing"]) == (len(both), 1)
    assert (found["baseline_mean"], found["candidate_mean"]) == pytest.approx((before, after), abs=1e-12)
