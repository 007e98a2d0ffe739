"""Plain reading against Inspect itself, on made-up logs; skipped where Inspect is not installed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import Expected, IngestError, MetricStated, Record, Sample, Stated
from tests.ingest.inspect_logs import header, result, results, sample, write_eval, write_json
from tests.ingest.reading import only, read

pytest.importorskip("inspect_ai", reason="inspect-ai, the oracle, is not installed")

# Inspect and what it imports warn of their own deprecations.
pytestmark = pytest.mark.filterwarnings("default")

USAGE = {"input_tokens": 40, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 60, "total_cost": 0.5}
MESSAGES = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "go"}]
ATTACHED = {"x": "y"}
ERROR = {"message": "TimeoutError()", "traceback": "", "traceback_ansi": ""}
SAMPLES: list[dict[str, Any]] = [
    sample("a", 1, {"match": "C", "rubric": {"style": 3, "facts": 0.5}}, model_usage={"m": USAGE}, total_time=2.0),
    sample("a", 2, {"match": "N", "rubric": {"style": 1, "facts": 1.0}}, limit={"type": "token", "limit": 9.0}),
    sample("b", 1, {"match": math.nan, "rubric": math.nan}, input=MESSAGES),
    sample("b", 2, None, error=ERROR, error_retries=[ERROR]),
    sample(
        "c",
        1,
        {"match": "yes", "rubric": {"style": 0, "facts": "0.25"}},
        input="attachment://x",
        attachments=ATTACHED,
    ),
]


def log_of(path: Path) -> Path:
    head = header(["a", "b", "c"], epochs=2) | {"results": results(6, 4, result("match", 0.5))}
    return (write_eval if path.suffix == ".eval" else write_json)(path, head, SAMPLES)


def said(records: list[Record]) -> list[Any]:
    samples = [
        (
            *(each.case.key, each.repeat, dict(each.values), dict(each.missing), each.status, each.failure),
            *(each.input, each.cost_usd, each.input_tokens, each.output_tokens, each.duration_s, each.attempts),
        )
        for each in only(Sample, records)
    ]
    expected = [(each.case.key, each.repeats, each.absence) for each in only(Expected, records)]
    stated = [(each.figure, each.metric, each.name, each.value) for each in only(Stated, records)]
    metrics = [(each.metric.name, each.metric.kind, each.metric.upper) for each in only(MetricStated, records)]
    return [sorted(samples, key=lambda each: each[:2]), expected, stated, sorted(metrics, key=repr)]


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_plain_reading_says_what_reading_with_inspect_says(tmp_path: Path, name: str) -> None:
    log = log_of(tmp_path / name)
    assert said(read(reader, log, via="plain")) == said(read(reader, log, via="tool"))


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_values_are_what_inspects_own_conversion_gives(tmp_path: Path, name: str) -> None:
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import value_to_float

    log = log_of(tmp_path / name)
    to_float = value_to_float()
    theirs: dict[Any, float] = {}
    for each in read_eval_log(str(log)).samples or ():
        for scorer, score in (each.scores or {}).items():
            parts = {f"{scorer}/{k}": v for k, v in score.value.items()} if isinstance(score.value, dict) else None
            for metric, value in (parts or {scorer: score.value}).items():
                if not math.isnan(to_float(value)):
                    theirs[each.id, each.epoch, metric] = to_float(value)
    ours = {
        (each.case.key, each.repeat, metric): value
        for each in only(Sample, read(reader, log))
        for metric, value in each.values.items()
    }
    assert ours == theirs


def test_a_version_that_inspect_refuses_too_is_refused_in_its_words(tmp_path: Path) -> None:
    log = write_json(tmp_path / "log.json", header([1]) | {"version": 99}, [sample(1)])
    with pytest.raises(IngestError, match=r"refused by Inspect itself \(Unable to read version 99"):
        read(reader, log)
