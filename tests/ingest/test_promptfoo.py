"""promptfoo's results: versions, systems, cases, metrics, statuses, costs and stated figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import MissingReason, Status
from opfield.ingest.readers.promptfoo import reader
from opfield.ingest.readers.promptfoo_format import Row, row_of
from opfield.ingest.records import (
    OBSERVED,
    IngestError,
    MetricStated,
    Note,
    Refused,
    Sample,
    Stated,
    System,
)
from tests.ingest.promptfoo_files import Result, as_lines, column, document, result, sample_of, written
from tests.ingest.reading import only, read


def test_a_result_of_version_3_becomes_a_cell(tmp_path: Path) -> None:
    records = read(reader, written(tmp_path / "out.json", document(result(), prompts=[column()])))
    (sample,), (system,) = only(Sample, records), only(System, records)
    assert sample.system == system.key
    assert sample.place == "out.json: results.results[0]"
    assert sample.input == "2+2?"
    assert sample.values == {"pass": 1, "score": 1, "exactness": 0.5}
    assert (sample.status, sample.failure, sample.repeat) == (Status.SUCCESS, None, None)
    assert (sample.cost_usd, sample.input_tokens, sample.output_tokens) == (0.002, 10, 2)
    assert sample.duration_s == 1.5
    assert sample.content["output"] == "4"
    assert [stated.metric.name for stated in only(MetricStated, records)] == ["pass", "score", "exactness"]


def variants(tmp_path: Path) -> dict[str, Path]:
    """The same two results in every form that promptfoo writes."""
    rows = [result("2+2?"), result("3+3?", test=1)]
    head = {"head": {"prompts": [{"provider": "openai:small", "display": "plain"}], "vars": ["question"]}, "body": []}
    old = [{name: value for name, value in row.items() if name not in ("promptIdx", "testIdx")} for row in rows]
    for row in old:
        row["prompt"] = {"raw": row["prompt"]["raw"], "display": "plain"}
    return {
        "version 1": written(tmp_path / "v1.json", document(*old, version=1, table=head)),
        "version 2": written(tmp_path / "v2.json", document(*rows, version=2, table=head)),
        "version 3": written(tmp_path / "v3.json", document(*rows, prompts=[column()])),
        "version 4": written(tmp_path / "v4.json", {**document(*rows, prompts=[column()]), "version": 4}),
        "object": written(tmp_path / "object.json", {"id": "eval-1", "results": rows, "prompts": [column()]}),
        "lines": as_lines(tmp_path / "out.jsonl", *rows),
        "lines by content": as_lines(tmp_path / "out.txt", *rows),
    }


def test_every_version_gives_the_same_cells(tmp_path: Path) -> None:
    read_as = {}
    for name, path in variants(tmp_path).items():
        samples = only(Sample, read(reader, path))
        read_as[name] = [(sample.case, sample.input, dict(sample.values), sample.cost_usd) for sample in samples]
    assert len(read_as["version 3"]) == 2
    assert all(cells == read_as["version 3"] for cells in read_as.values())


def test_files_of_every_version_are_recognized(tmp_path: Path) -> None:
    found = variants(tmp_path)
    assert {name for name, path in found.items() if not reader.recognizes(path)} == {"lines by content"}
    assert not reader.recognizes(written(tmp_path / "other.json", {"results": {"accuracy": 1}}))
    assert not reader.recognizes(tmp_path)


def test_a_column_is_a_system_that_names_its_prompt_and_its_configuration(tmp_path: Path) -> None:
    rows = [result(column=index, prompt={"raw": "filled in", "label": f"prompt {index}"}) for index in (1, 0)]
    config = {
        "providers": [{"id": "openai:small", "config": {"temperature": 0, "apiKey": "sk-abcdefghijklmnop"}}],
        "defaultTest": {"options": {"prefix": "Be brief.", "provider": "openai:judge"}},
    }
    head = [column(prompt="prompt 0"), column(prompt="prompt 1")]
    path = written(tmp_path / "out.json", document(*rows, prompts=head, config=config))
    first, second = only(System, read(reader, path))
    assert (first.label, second.label) == ("openai:small prompt 0", "openai:small prompt 1")
    assert first.says == {
        "tool": "promptfoo",
        "provider": {"id": "openai:small", "config": {"temperature": 0}},
        "prompt": {"label": "prompt 0", "raw": "prompt 0: {{question}}"},
        "options": {"prefix": "Be brief."},
    }
    assert first.place == "out.json: results.prompts[0]"
    assert first.run is not None
    assert first.run != second.run


def test_a_declared_system_without_a_result_is_still_announced(tmp_path: Path) -> None:
    head = [column(), column(provider="openai:large", testPassCount=0, testFailCount=0, testErrorCount=3)]
    records = read(reader, written(tmp_path / "out.json", document(result(), prompts=head)))
    assert [system.label for system in only(System, records)] == ["openai:small", "openai:large"]
    assert [stated.value for stated in only(Stated, records)] == [3, 0, 0]


def test_the_user_may_name_the_providers_and_prompts_to_read(tmp_path: Path) -> None:
    providers = [{"id": "a", "label": "first"}, {"id": "b"}]
    prompts = [{"raw": "", "label": name} for name in ("p", "q")]
    rows = [
        result(column=2 * i + j, provider=provider, prompt=prompt)
        for i, provider in enumerate(providers)
        for j, prompt in enumerate(prompts)
    ]
    path = written(tmp_path / "out.json", document(*rows))
    records = read(reader, path, provider=("first",), prompt=("q",))
    assert [system.says["prompt"]["label"] for system in only(System, records)] == ["q"]
    assert [sample.place for sample in only(Sample, records)] == ["out.json: results.results[1]"]
    assert len(only(Sample, read(reader, path, prompt=("p",)))) == 2
    with pytest.raises(IngestError, match=r"unknown prompt 'r'; .*known: p, q"):
        read(reader, path, prompt=("r",))
    with pytest.raises(IngestError, match=r"unknown provider 'c'; .*known: a, b, first"):
        read(reader, path, provider=("c",))


def test_the_filled_in_prompt_of_a_case_is_no_part_of_the_system(tmp_path: Path) -> None:
    systems = [
        only(System, read(reader, as_lines(tmp_path / "out.jsonl", result(question))))[0] for question in ("a", "b")
    ]
    assert systems[0].says == systems[1].says


def test_files_of_one_provider_are_told_apart_by_their_names(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, document(result()) | {"evalId": name}) for name in ("old.json", "new.json")]
    old, new = only(System, read(reader, *paths))
    assert (old.label, new.label) == ("openai:small (old.json)", "openai:small (new.json)")
    assert {"new.json", "openai:small@new.json", "openai:small"} <= set(new.aliases)
    assert old.key != new.key


def test_a_case_is_its_variables_whatever_its_position(tmp_path: Path) -> None:
    forward = written(tmp_path / "a.json", document(result("x", test=0), result("y", test=1)))
    backward = written(tmp_path / "b.json", document(result("y", test=0), result("x", test=1)))
    keys = [sample.case.key for sample in only(Sample, read(reader, forward, backward))]
    assert keys == [keys[0], keys[1], keys[1], keys[0]]
    assert keys[0] != keys[1]
    assert str(keys[0]).startswith("vars:")


@given(
    st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=4)
)
def test_the_order_of_variables_makes_no_other_case(variables: dict[str, Any]) -> None:
    rows = [row_of(result() | {"testCase": {"vars": held}}, "here") for held in (variables, _reversed(variables))]
    first, second = (row for row in rows if isinstance(row, Row))
    assert first.variables == second.variables


def _reversed(variables: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(variables.items()))


def test_what_promptfoo_adds_to_variables_at_run_time_is_no_part_of_the_case(tmp_path: Path) -> None:
    plain = sample_of(tmp_path, result())
    added = {"question": "2+2?", "_conversation": [{"input": "hi"}], "sessionId": "s-1"}
    talked = sample_of(tmp_path, result(testCase={"vars": added}, vars=added))
    assert (talked.case, talked.input) == (plain.case, plain.input)


def test_several_variables_are_asked_as_an_object(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, result(testCase={"vars": {"a": "x", "b": 2}}))
    assert sample.input == {"a": "x", "b": 2}


def test_tests_that_share_their_variables_are_told_apart_in_every_file(tmp_path: Path) -> None:
    strict = {"vars": {"question": "2+2?"}, "description": "strict"}
    both = written(tmp_path / "a.json", document(result(), result(test=1, testCase=strict)))
    one = written(tmp_path / "b.json", document(result(testCase=strict)))
    lax, first, second = (sample.case.key for sample in only(Sample, read(reader, both, one)))
    assert first == second
    assert lax != first
    alone = only(Sample, read(reader, one))[0].case.key
    assert str(alone).startswith("vars:")


def test_one_test_under_several_providers_is_one_case(tmp_path: Path) -> None:
    large = result(column=1, provider={"id": "openai:large"})
    samples = only(Sample, read(reader, written(tmp_path / "out.json", document(result(), large))))
    assert samples[0].case == samples[1].case
    assert samples[0].system != samples[1].system


@pytest.mark.parametrize(
    ("option", "key"), [("vars.id", 7), ("metadata.case", "c-7"), ("metadata.deep.id", "d"), ("description", "a sum")]
)
def test_a_member_that_the_user_names_is_the_key(tmp_path: Path, option: str, key: str | int) -> None:
    test = {"vars": {"id": 7.0}, "metadata": {"case": "c-7", "deep": {"id": "d"}}, "description": "a sum"}
    sample = sample_of(tmp_path, result(testCase=test), **{"case-id": option})
    assert sample.case.key == key
    assert type(sample.case.key) is type(key)


def test_a_test_without_the_member_that_the_user_names_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "out.json", document(result()))
    options: dict[str, Any] = {"case-id": "vars.id"}
    (refused,) = only(Refused, read(reader, path, **options))
    assert refused.place == "out.json: results.results[0]"
    assert "vars.id is 'None'" in refused.reason
    with pytest.raises(IngestError, match=r"write vars\.NAME"):
        read(reader, path, **options | {"case-id": "id"})


def test_repeats_are_numbered_counted_or_unknown_as_the_file_says(tmp_path: Path) -> None:
    assert sample_of(tmp_path, result(repeatIndex=2)).repeat == 2
    assert sample_of(tmp_path, result()).repeat is None
    assert sample_of(tmp_path, result(), repeats=True).repeat is OBSERVED
    for members in ({"config": {"evaluateOptions": {"repeat": 3}}}, {"runtimeOptions": {"repeat": 3}}):
        path = written(tmp_path / "out.json", document(result(), **members))
        assert only(Sample, read(reader, path))[0].repeat is OBSERVED


def test_unstated_repeats_are_noted_with_the_option_that_takes_them(tmp_path: Path) -> None:
    path = written(tmp_path / "out.json", document(result(test=0), result(test=1)))
    (note,) = only(Note, read(reader, path))
    assert "--repeats" in note.text
    assert only(Note, read(reader, path, repeats=True)) == []


def test_a_failed_assertion_is_an_answer_that_did_not_pass(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, result(success=False, score=0.25, failureReason=1, error="Expected 4"))
    assert (sample.status, sample.failure) == (Status.SUCCESS, None)
    assert (sample.values["pass"], sample.values["score"]) == (0, 0.25)


FAILED: Result = {"success": False, "score": 0, "failureReason": 2, "gradingResult": None, "response": None}


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"error": "429 too many"}, Status.INFRASTRUCTURE_FAILURE, "error"),
        ({"error": "Evaluation timed out after 500ms: 429"}, Status.INFRASTRUCTURE_FAILURE, "timeout"),
        ({"error": "Evaluation exceeded max duration of 9ms"}, Status.CANCELLED, "max_duration"),
        ({"error": "no grade", "response": {"output": "4"}}, Status.INFRASTRUCTURE_FAILURE, "grader_error"),
        ({"error": None}, Status.INFRASTRUCTURE_FAILURE, "error"),
        # A result of before there was a failure reason, or one carried over from then.
        ({"error": "429", "failureReason": None}, Status.INFRASTRUCTURE_FAILURE, "error"),
        ({"error": "429", "failureReason": 0}, Status.INFRASTRUCTURE_FAILURE, "error"),
    ],
)
def test_an_error_is_a_failure_and_no_score_of_0(tmp_path: Path, members: Result, status: Status, code: str) -> None:
    sample = sample_of(tmp_path, result(**FAILED | members))
    assert sample.failure is not None
    assert (sample.status, sample.failure.code) == (status, code)
    assert sample.values == {}
    assert set(sample.missing) == {"pass", "score"}


def test_the_user_says_what_an_error_is(tmp_path: Path) -> None:
    failed = result(**FAILED, error="refused with api_key=abcd1234efgh")
    sample = sample_of(tmp_path, failed, errors="domain_failure")
    assert sample.status is Status.DOMAIN_FAILURE
    assert sample.failure is not None
    assert sample.failure.message == "refused with api_key=***"
    with pytest.raises(IngestError, match="'crash' is neither"):
        sample_of(tmp_path, failed, errors="crash")


def test_an_error_beside_a_grade_is_a_failed_assertion_in_versions_without_a_reason(tmp_path: Path) -> None:
    graded = result(success=False, error="Expected 4", gradingResult={"pass": False, "score": 0})
    del graded["failureReason"]
    assert sample_of(tmp_path, graded).status is Status.SUCCESS


def test_a_failed_assertion_without_its_grading_is_still_no_error(tmp_path: Path) -> None:
    stripped = result(success=False, score=0, failureReason=1, error="Expected 4", gradingResult=None)
    assert sample_of(tmp_path, stripped).status is Status.SUCCESS


def test_no_output_is_counted_as_promptfoo_counts_it_and_noted(tmp_path: Path) -> None:
    empty = result(success=False, score=0, error="No output", gradingResult=None, response={})
    records = read(reader, written(tmp_path / "out.json", document(empty)))
    (sample,) = only(Sample, records)
    assert (sample.status, sample.values["pass"]) == (Status.SUCCESS, 0)
    assert [note.text for note in only(Note, records)] == [
        "1 results have no output and were graded as promptfoo grades them"
    ]


def test_an_assertion_that_could_not_be_judged_leaves_its_scores_missing(tmp_path: Path) -> None:
    broken = {"pass": False, "score": 0, "metadata": {"graderError": True}, "assertion": {"metric": "tone"}}
    grading = {"pass": False, "score": 0, "componentResults": [broken]}
    members: Result = {"namedScores": {"tone": 0, "exactness": 1}, "gradingResult": grading, "failureReason": 1}
    sample = sample_of(tmp_path, result(success=False, score=0, **members))
    assert sample.status is Status.SUCCESS
    assert sample.values == {"exactness": 1}
    assert sample.missing == dict.fromkeys(("pass", "score", "tone"), MissingReason.JUDGE_FAILED)


def test_what_is_no_number_is_missing_with_a_reason(tmp_path: Path) -> None:
    named = {"nan": float("nan"), "max": 1.7e308, "none": None, "text": "1", "flag": True, "good": -3}
    sample = sample_of(tmp_path, result(namedScores=named, score=float("inf")))
    assert sample.values == {"pass": 1, "good": -3}
    assert {name for name, why in sample.missing.items() if why is MissingReason.NOT_FINITE} == {"score", "nan", "max"}
    assert {name for name, why in sample.missing.items() if why is MissingReason.NOT_EMITTED} == {
        "none",
        "text",
        "flag",
    }


def test_a_named_score_never_hides_the_score_of_the_test(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, result(namedScores={"score": 0.125, "pass": 0.25}))
    assert sample.values == {"pass": 1, "score": 1, "namedScores.score": 0.125, "namedScores.pass": 0.25}


@pytest.mark.parametrize(
    ("stated", "response", "cost"),
    [
        (0.5, {}, 0.5),
        (0, {"cost": 0}, 0),
        (0, {}, None),
        (None, {}, None),
        (None, {"cost": 0.25}, 0.25),
        (-1, {}, None),
        (float("nan"), {}, None),
    ],
)
def test_a_cost_of_0_stands_only_where_the_response_says_so(
    tmp_path: Path, stated: Any, response: Result, cost: float | None
) -> None:
    assert sample_of(tmp_path, result(cost=stated, response={"output": "4"} | response)).cost_usd == cost


@pytest.mark.parametrize(
    ("usage", "graded", "tokens"),
    [
        ({"prompt": 10, "completion": 2}, {}, (10, 2)),
        ({"prompt": 10, "completion": 2}, {"prompt": 100, "completion": 50}, (110, 52)),
        ({"prompt": 10}, {"prompt": 100}, (110, None)),
        ({"cached": 12, "total": 12}, {"prompt": 100, "completion": 50}, (None, None)),
        ({"prompt": 0, "completion": 0, "total": 0}, {}, (None, None)),
        (None, {}, (None, None)),
    ],
)
def test_tokens_are_those_of_answer_and_grading_where_the_file_gives_both(
    tmp_path: Path, usage: Any, graded: Result, tokens: tuple[int | None, int | None]
) -> None:
    grading = {"pass": True, "tokensUsed": graded}
    sample = sample_of(tmp_path, result(response={"output": "4", "tokenUsage": usage}, gradingResult=grading))
    assert (sample.input_tokens, sample.output_tokens) == tokens


def test_lines_give_tokens_beside_the_response(tmp_path: Path) -> None:
    row = result(response={"output": "4"}, tokenUsage={"prompt": 3, "completion": 4, "total": 7})
    (sample,) = only(Sample, read(reader, as_lines(tmp_path / "out.jsonl", row)))
    assert (sample.input_tokens, sample.output_tokens) == (3, 4)
