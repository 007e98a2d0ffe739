"""What the reader of promptfoo leaves out, and what figures of the files it states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opfield.core import Status
from opfield.ingest.json_stream import json_items
from opfield.ingest.kept import is_secret_name
from opfield.ingest.readers.promptfoo import reader
from opfield.ingest.records import (
    Sample,
    Source,
    Stated,
    System,
)
from tests.ingest.promptfoo_files import Result, column, document, result, sample_of, written
from tests.ingest.reading import SHARED, needs_shared, only, read


def test_credentials_are_left_out_of_the_evidence_and_answers_are_kept(tmp_path: Path) -> None:
    assertion = {"type": "webhook", "config": {"apiKey": "abc"}, "value": "https://me:pw@host/x"}
    grading = {"pass": True, "score": 1, "reason": "token=abcdefgh1", "componentResults": [{"assertion": assertion}]}
    answer = {"output": "my password: hunter22", "headers": {"set-cookie": "x"}}
    content = sample_of(tmp_path, result(gradingResult=grading, response=answer)).content
    assert content["output"] == "my password: hunter22"
    rest = json.dumps({name: value for name, value in content.items() if name != "output"})
    assert not [secret for secret in ("abc", "me:pw", "set-cookie") if secret in rest]


@pytest.mark.parametrize(
    "name", ["apiKey", "API_KEY", "x-api-key", "token", "authToken", "clientSecret", "Authorization"]
)
def test_a_name_of_a_credential_is_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "tokenUsage", "keyword", "monkey", "maxTokens", "", "temperature"])
def test_a_name_that_only_resembles_one_is_kept(name: str) -> None:
    assert not is_secret_name(name)


def test_stated_figures_count_errors_as_tests_that_did_not_pass(tmp_path: Path) -> None:
    figures: Result = {"testPassCount": 6, "testFailCount": 2, "testErrorCount": 2, "score": 7.5}
    path = written(tmp_path / "out.json", document(result(), prompts=[column(**figures)]))
    stated = {(each.figure, each.metric): each.value for each in only(Stated, read(reader, path))}
    assert stated == {("samples", None): 10, ("scored", None): 8, ("mean", "pass"): 0.6, ("mean", "score"): 0.75}


def test_figures_over_the_whole_file_are_of_its_only_system(tmp_path: Path) -> None:
    stats = {"successes": 3, "failures": 1, "errors": 0}
    one = written(tmp_path / "one.json", document(result(), stats=stats))
    two = written(tmp_path / "two.json", document(result(), result(column=1, provider="b"), stats=stats))
    assert [each.value for each in only(Stated, read(reader, one))] == [4, 4, 0.75]
    assert only(Stated, read(reader, two)) == []


def test_figures_of_versions_that_do_not_number_columns_are_of_the_system_of_that_name(tmp_path: Path) -> None:
    row = {name: value for name, value in result().items() if name != "promptIdx"}
    head = {"head": {"prompts": [column(testPassCount=3, testFailCount=1), column(provider="b", testPassCount=1)]}}
    records = read(reader, written(tmp_path / "out.json", document(row, version=1, table=head)))
    system = only(System, records)[0]
    assert len(only(System, records)) == 2
    assert only(Sample, records)[0].system == system.key
    assert system.says["prompt"]["raw"] == "plain: {{question}}"
    assert [(each.system, each.value) for each in only(Stated, records)] == [
        (system.key, 4),
        (system.key, 4),
        (system.key, 0.75),
    ]


def test_a_document_larger_than_what_is_read_at_a_time_gives_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [result(f"{index}?", test=index) for index in range(20)]
    path = written(tmp_path / "out.json", document(*rows, prompts=[column(testPassCount=20, testFailCount=0)]))
    whole = read(reader, path)
    monkeypatch.setattr("opfield.ingest.json_stream._CHUNK", 7)
    assert read(reader, path) == whole
    assert len(list(json_items(Source(path, path.name), "results.results.item"))) == 20


@needs_shared
def test_a_real_file_agrees_with_what_it_states() -> None:
    (path,) = (SHARED / "promptfoo").rglob("results.json")
    raw = json.loads(path.read_text())["results"]
    records = read(reader, path)
    samples, systems = only(Sample, records), only(System, records)
    assert (len(samples), len(systems), len({sample.case for sample in samples})) == (30, 8, 8)
    assert {sample.status for sample in samples} == {Status.SUCCESS}
    assert sum(sample.values["pass"] for sample in samples) == raw["stats"]["successes"] == 0
    for stated in only(Stated, records):
        mine = [sample for sample in samples if sample.system == stated.system]
        if stated.metric is None:
            assert len(mine) == stated.value
        else:
            assert sum(sample.values[stated.metric] for sample in mine) / len(mine) == stated.value
    # promptfoo's own sums over what each column spent.
    for system, head in zip(systems, raw["prompts"], strict=True):
        spent = sum(sample.cost_usd or 0 for sample in samples if sample.system == system.key)
        assert spent == pytest.approx(head["metrics"]["cost"])
    assert "set-cookie" not in str([sample.content for sample in samples])
