"""promptfoo's results where they are damaged, foreign or odd: named refusals, never a traceback."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.ingest.readers.promptfoo import reader
from opfield.ingest.records import IngestError, Note, Refused, Sample, System
from tests.ingest.promptfoo_files import as_lines, document, result, written
from tests.ingest.reading import only, read


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_a_file_that_is_cut_off_is_refused_by_name(tmp_path: Path, share: float, name: str) -> None:
    rows = [result(str(index), test=index) for index in range(5)]
    whole = as_lines(tmp_path / name, *rows) if name.endswith("l") else written(tmp_path / name, document(*rows))
    content = whole.read_bytes()
    whole.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(IngestError, match=name):
        read(reader, whole)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(IngestError, match=name):
        read(reader, path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"results": {"results": [1,]}}', "not JSON"),
        (b"[1, 2]", "it holds a list"),
        (b"3", "it holds a number"),
        (b'{"results": {"accuracy": 1}}', "neither `results.results` nor `results`"),
        (b"version: 3\nresults: []\n", "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nests too deep"),
    ],
)
def test_what_is_no_result_file_is_refused_with_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(IngestError, match=re.escape(reason)) as raised:
        read(reader, path)
    assert "other.json" in str(raised.value)


@pytest.mark.parametrize("version", [5, 0, "3", 3.5, True, []])
def test_an_unknown_version_is_refused_and_the_known_ones_are_named(tmp_path: Path, version: Any) -> None:
    inner = written(tmp_path / "inner.json", document(result(), version=version))
    outer = written(tmp_path / "outer.json", document(result()) | {"version": version})
    with pytest.raises(IngestError, match=r"inner\.json: results\.version .* \(1, 2, 3, 4\)"):
        read(reader, inner)
    with pytest.raises(IngestError, match=r"outer\.json: version .* \(1, 2, 3, 4\)"):
        read(reader, outer)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (7, "a number, not a result"),
        ({"score": 1, "vars": {}}, "its provider is nothing"),
        (result() | {"provider": {"label": "x"}}, "without an id"),
        (result() | {"provider": ""}, "without an id"),
        (result() | {"vars": "file://x.csv", "testCase": None}, "its vars are text"),
        (result() | {"failureReason": 9}, "failureReason 9"),
        ({"provider": "p", "vars": {}}, "none of `success`, `score` and `error`"),
        (result() | {"testCase": {"vars": {"x": float("nan")}}}, "not finite"),
        (result() | {"namedScores": {"a\0b": 1}}, "NUL"),
        (result() | {"namedScores": {"": 1}}, "1 to 200 characters"),
    ],
)
def test_a_result_that_cannot_be_read_is_refused_and_the_others_are_not(
    tmp_path: Path, broken: Any, reason: str
) -> None:
    records = read(reader, written(tmp_path / "out.json", document(result("x"), broken, result("y"))))
    (refused,) = only(Refused, records)
    assert refused.place == "out.json: results.results[1]"
    assert reason in refused.reason
    assert refused.remedy
    assert len(only(Sample, records)) == 2


def test_a_file_of_nothing_but_refusals_is_not_read_to_its_end(tmp_path: Path) -> None:
    refused = only(Refused, read(reader, written(tmp_path / "out.json", document(*range(10_000)))))
    assert len(refused) == 51


@pytest.mark.parametrize("depth", [300, 600])
def test_variables_nested_too_deep_are_refused_and_the_rest_is_cut_there(tmp_path: Path, depth: int) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    path = written(tmp_path / "vars.json", document(result() | {"testCase": {"vars": {"x": deep}}}))
    assert len(only(Refused, read(reader, path))) == 1
    providers = [{"id": "openai:small", "config": deep}]
    answer = result() | {"response": {"output": deep}}
    path = written(tmp_path / "rest.json", document(answer, config={"providers": providers}))
    (sample,), (system,) = only(Sample, records := read(reader, path)), only(System, records)
    assert "…" in str(sample.content)
    assert "…" in str(system.says)


def test_lines_may_have_a_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    rows = [json.dumps(result("é")), "", json.dumps(result("y"))]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode() + b"\r\n")
    samples = only(Sample, read(reader, path))
    assert [(sample.place, sample.input) for sample in samples] == [
        ("out.jsonl: line 1", "é"),
        ("out.jsonl: line 3", "y"),
    ]


def test_a_gzip_file_is_read_as_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "out.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document(result())).encode()))
    assert reader.recognizes(path)
    assert len(only(Sample, read(reader, path))) == 1


def test_text_of_every_kind_is_a_case(tmp_path: Path) -> None:
    texts = ["\0", "../../etc/passwd", "a=b", "x" * 1_000_000, "file://cases/1.txt", "", "\n"]
    rows = [result(text, test=index) for index, text in enumerate(texts)]
    samples = only(Sample, read(reader, written(tmp_path / "out.json", document(*rows))))
    assert [sample.input for sample in samples] == texts
    assert len({sample.case.key for sample in samples}) == len(texts)
    assert all(len(str(sample.case.key)) == len("vars:") + 16 for sample in samples)


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document(result("x"))).replace('"x"', r'"\ud800"'))
    assert [sample.input for sample in only(Sample, read(reader, path))] == ["\ufffd"]


def test_an_integer_beyond_a_double_is_the_double_that_promptfoo_held(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document(result("x"))).replace('"x"', "12345678901234567890"))
    assert [sample.input for sample in only(Sample, read(reader, path))] == [{"question": 12345678901234567890.0}]


def test_duplicates_are_told_as_they_stand(tmp_path: Path) -> None:
    samples = only(Sample, read(reader, written(tmp_path / "out.json", document(result(), result()))))
    assert len(samples) == 2
    assert samples[0].case == samples[1].case


def test_a_label_of_any_text_is_a_short_plain_line(tmp_path: Path) -> None:
    odd = result() | {"provider": {"id": "a\0b\nc" + "x" * 5000}}
    (system,) = only(System, read(reader, written(tmp_path / "out.json", document(odd))))
    assert system.label.startswith("a b c")
    assert len(system.label) <= 200


def test_a_file_without_results_is_noted(tmp_path: Path) -> None:
    records = read(reader, written(tmp_path / "out.json", document()))
    assert [note.text for note in only(Note, records)] == ["the file holds no results"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = [*sorted(result()), "tokenUsage", "metadata", "error", "repeatIndex"]
HEADS = ["prompts", "stats", "table", "config", "metadata", "runtimeOptions", "evalId"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from(MEMBERS), JSON), st.dictionaries(st.sampled_from(HEADS), JSON), st.data())
def test_any_value_in_any_member_is_told_or_refused(
    tmp_path: Path, members: dict[str, Any], heads: dict[str, Any], data: st.DataObject
) -> None:
    row = result() | members
    for name in ("response", "gradingResult", "testCase", "provider", "prompt"):
        if isinstance(row[name], dict) and row[name]:
            row[name] = row[name] | {data.draw(st.sampled_from(sorted(row[name]))): data.draw(JSON)}
    try:
        records = read(reader, written(tmp_path / "out.json", document(row, **heads)))
    except IngestError:
        return
    assert len(only(Sample, records)) + len(only(Refused, records)) == 1
