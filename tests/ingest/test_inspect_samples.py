"""Samples of Inspect logs: values, metrics, statuses, usage, inputs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from opfield.core import MissingReason, Status
from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import (
    MetricStated,
    Sample,
    Stated,
    System,
)
from tests.ingest.inspect_logs import (
    header,
    metrics,
    notes,
    one_sample,
    sample,
    write_json,
)
from tests.ingest.reading import only, read


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("YES", 1.0),
        ("false", 0.0),
        (True, 1.0),
        (0.25, 0.25),
        ("1e-1", 0.1),
        (-3, -3.0),
    ],
)
def test_values_count_as_inspect_counts_them(tmp_path: Path, value: Any, counts: float) -> None:
    found = one_sample(tmp_path, scores={"judge": value})
    assert (found.values, found.missing, found.status) == ({"judge": counts}, {}, Status.SUCCESS)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, MissingReason.NOT_FINITE),
        (-math.inf, MissingReason.NOT_FINITE),
        (1.7976931348623157e308, MissingReason.NOT_FINITE),
        (10**400, MissingReason.NOT_FINITE),
        ("nan", MissingReason.NOT_FINITE),
        (None, MissingReason.NOT_EMITTED),
        ("", MissingReason.NOT_EMITTED),
        ("c", MissingReason.NOT_APPLICABLE),
    ],
)
def test_what_is_no_number_is_missing_with_a_reason(tmp_path: Path, value: Any, reason: MissingReason) -> None:
    found = one_sample(tmp_path, scores={"judge": value})
    assert (found.values, found.missing, found.status) == ({}, {"judge": reason}, Status.SUCCESS)


def test_text_that_is_no_number_is_noted_once_a_metric(tmp_path: Path) -> None:
    samples = [sample(key, scores={"judge": f"answer {key}"}) for key in (1, 2, 3)]
    records = read(reader, write_json(tmp_path / "log.json", header([1, 2, 3]), samples))
    assert (
        notes(records)
        == "log.json: 3 values of judge no number, such as 'answer 1'; missing here, 0 in Inspect's means"
    )


@pytest.mark.parametrize("score", [{"reason": "grader_failed"}, {"metadata": {"unscored_reason": "grader_failed"}}])
def test_a_grader_that_states_its_failure_failed(tmp_path: Path, score: dict[str, Any]) -> None:
    log = write_json(tmp_path / "a.json", header([1]), [sample(1) | {"scores": {"judge": {"value": math.nan} | score}}])
    [found] = only(Sample, read(reader, log))
    assert found.missing == {"judge": MissingReason.JUDGE_FAILED}
    told = {"value": math.nan, "explanation": "the grader failed"}
    log = write_json(tmp_path / "b.json", header([1]), [sample(1) | {"scores": {"judge": told}}])
    [found] = only(Sample, read(reader, log))
    assert found.missing == {"judge": MissingReason.NOT_FINITE}  # prose is not read


def test_a_score_of_several_values_is_several_metrics(tmp_path: Path) -> None:
    samples = [
        sample(1, scores={"rubric": {"style": 3, "facts": "C"}, "steps": [1, 0.5]}),
        sample(2, scores={"rubric": math.nan, "steps": [0]}),
    ]
    records = read(reader, write_json(tmp_path / "log.json", header([1, 2]), samples))
    first, second = only(Sample, records)
    assert first.values == {"rubric/style": 3.0, "rubric/facts": 1.0, "steps/0": 1.0, "steps/1": 0.5}
    assert second.values == {"steps/0": 0.0}
    assert second.missing == {
        "rubric/style": MissingReason.NOT_FINITE,
        "rubric/facts": MissingReason.NOT_FINITE,
        "steps/1": MissingReason.NOT_EMITTED,
    }
    assert set(metrics(records)) == {"rubric/style", "rubric/facts", "steps/0", "steps/1"}


def test_a_metric_is_defined_by_all_that_stands_under_its_name_in_all_logs(tmp_path: Path) -> None:
    one = [sample(1, scores={"match": "C", "judge": "P", "flag": True, "choice": "C", "length": "C"})]
    two = [sample(1, scores={"match": "I", "judge": "I", "flag": False, "choice": 0.5, "length": 7})]
    logs = [
        write_json(tmp_path / "one.json", header([1]), one),
        write_json(tmp_path / "two.json", header([1], eval_id="E2"), two),
    ]
    records = read(reader, *logs)
    found = {name: (metric.kind, metric.lower, metric.upper) for name, metric in metrics(records).items()}
    assert found == {
        "match": ("binary", 0.0, 1.0),  # of Inspect's own, and only C and I stand there
        "judge": ("continuous", 0.0, 1.0),
        "flag": ("binary", 0.0, 1.0),
        "choice": ("continuous", None, None),  # named as one of Inspect's own, but it gives another number
        "length": ("continuous", None, None),
    }
    assert all(metric.direction == "maximize" for metric in metrics(records).values())
    assert len(only(MetricStated, records)) == 5


def test_an_error_is_a_failure_that_keeps_its_scores(tmp_path: Path) -> None:
    error = {"message": "TimeoutError()", "traceback": "..."}
    found = one_sample(tmp_path, scores={"match": "I"}, error=error, error_retries=[{"message": "x"}] * 2)
    assert found.status is Status.INFRASTRUCTURE_FAILURE
    assert found.failure is not None
    assert (found.failure.code, found.failure.message) == ("error", "TimeoutError()")
    assert (found.values, found.attempts) == ({"match": 0.0}, 3)
    assert one_sample(tmp_path, error=error, options={"errors": "domain_failure"}).status is Status.DOMAIN_FAILURE


def test_a_sample_whose_surroundings_were_cancelled_is_cancelled(tmp_path: Path) -> None:
    found = one_sample(tmp_path, error={"message": "CancelledError('via scope')"})
    assert found.status is Status.CANCELLED


def test_a_limit_is_a_success_where_the_sample_was_scored_and_a_failure_where_not(tmp_path: Path) -> None:
    limit = {"type": "token", "limit": 100}
    samples = [
        sample(1, scores={"match": "I"}, limit=limit),
        sample(2, scores={"match": "C"}, limit=limit),
        sample(3, limit=limit),
    ]
    records = read(reader, write_json(tmp_path / "log.json", header([1, 2, 3]), samples))
    first, second, third = only(Sample, records)
    assert (first.status, second.status, third.status) == (Status.SUCCESS, Status.SUCCESS, Status.DOMAIN_FAILURE)
    assert third.failure is not None
    assert third.failure.code == "limit_token"
    assert notes(records) == "log.json: 2 samples hit the token limit and counted as scored, as Inspect has it"


def test_a_sample_without_a_score_is_unscored_interrupted_or_never_to_be_scored(tmp_path: Path) -> None:
    unscored = one_sample(tmp_path)
    interrupted = one_sample(tmp_path, head=header([1], status="error"))
    never = one_sample(tmp_path, head=header([1], scorers=None))
    assert unscored.failure is not None
    assert (unscored.status, unscored.failure.code) == (Status.INFRASTRUCTURE_FAILURE, "unscored")
    assert (interrupted.status, never.status) == (Status.CANCELLED, Status.SUCCESS)
    records = read(reader, write_json(tmp_path / "log.json", header([1], scorers=None), [sample(1)]))
    assert "nothing is scored of 1 sample: it has no scorer" in notes(records)


def test_an_invalidated_sample_is_a_failure(tmp_path: Path) -> None:
    found = one_sample(tmp_path, scores={"match": "C"}, invalidation={"author": "me", "reason": "leaked"})
    assert found.failure is not None
    assert (found.status, found.failure.code) == (Status.INFRASTRUCTURE_FAILURE, "invalidated")
    assert found.failure.message == "me: leaked"


def test_tokens_count_what_was_cached_once_whichever_way_the_log_counts_it(tmp_path: Path) -> None:
    inside = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 60}
    beside = {"input_tokens": 40, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 60}
    assert one_sample(tmp_path, model_usage={"m": inside}).input_tokens == 100
    assert one_sample(tmp_path, model_usage={"m": beside}).input_tokens == 100
    both = one_sample(tmp_path, model_usage={"m": inside | {"total_cost": 0.5}, "judge": beside | {"total_cost": 0.25}})
    assert (both.input_tokens, both.output_tokens, both.cost_usd) == (200, 10, 0.75)


def test_what_was_used_is_unknown_where_the_log_does_not_say(tmp_path: Path) -> None:
    found = one_sample(tmp_path, model_usage={})
    assert (found.input_tokens, found.output_tokens, found.cost_usd, found.duration_s) == (None, None, None, None)
    part = one_sample(tmp_path, model_usage={"a": {"total_cost": 1.0, "output_tokens": 1}, "b": {"output_tokens": 1}})
    assert part.cost_usd is None


def test_times_are_the_samples_own(tmp_path: Path) -> None:
    found = one_sample(tmp_path, total_time=2.5, working_time=1, started_at="2025-01-01T00:00:00Z", completed_at="b")
    assert (found.duration_s, found.started_at, found.finished_at) == (2.5, "2025-01-01T00:00:00Z", "b")


@pytest.mark.parametrize(
    ("asked", "input_"),
    [
        ("plain", "plain"),
        ([{"id": "x", "role": "user", "content": "one text", "source": "input"}], "one text"),
        ([{"role": "user", "content": [{"type": "text", "text": "one part"}]}], "one part"),
        (
            [{"role": "system", "content": "be brief", "id": "x"}, {"role": "user", "content": "go"}],
            [{"role": "system", "content": "be brief"}, {"role": "user", "content": "go"}],
        ),
        ([{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": "a"}]),
        ("attachment://abc", "long"),
        ([{"role": "user", "content": [{"type": "text", "text": "attachment://abc"}]}], "long"),
        ("attachment://unknown", "attachment://unknown"),
    ],
)
def test_the_input_is_the_text_alone_where_it_is_one(tmp_path: Path, asked: Any, input_: Any) -> None:
    assert one_sample(tmp_path, input=asked, attachments={"abc": "long"}).input == input_


def test_the_layout_of_2024_is_read(tmp_path: Path) -> None:
    old = {
        "id": 1,
        "epoch": 1,
        "input": "tc://abc",
        "score": {"value": "C"},
        "transcript": {"events": [], "content": {"abc": "asked"}},
    }
    head = header(None, epochs=None)
    head["version"] = 1
    del head["eval"]["eval_id"]
    head["results"] = {"scorer": {"name": "includes"}, "metrics": {"accuracy": {"name": "accuracy", "value": 1}}}
    records = read(reader, write_json(tmp_path / "log.json", head, [old]))
    [found], [system] = only(Sample, records), only(System, records)
    assert (found.values, found.input, system.run) == ({"includes": 1.0}, "asked", "R1/T1")
    assert [(s.metric, s.value, s.name) for s in only(Stated, records) if s.figure == "mean"] == [
        ("includes", 1.0, "accuracy")
    ]


def test_evidence_is_the_sample_without_its_steps_unless_asked(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "q"}]
    members: dict[str, Any] = {"events": [{"event": "info"}], "attachments": {"a": "b"}, "messages": messages}
    kept = one_sample(tmp_path, **members).content
    assert "events" not in kept
    assert "attachments" not in kept
    assert kept["messages"] == members["messages"]
    assert one_sample(tmp_path, options={"events": True}, **members).content["events"] == members["events"]
