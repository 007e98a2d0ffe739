"""Runs and judgments that are damaged, contradictory or of another kind: named, never a traceback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.ingest.readers.retrieval.cbor import nested_numbers
from opfield.ingest.readers.retrieval.matching import would_match
from opfield.ingest.readers.trec import reader
from opfield.ingest.records import IngestError, Note, Record, Refused, Sample, Stated
from tests.ingest.rankings import write_qrels, write_run
from tests.ingest.reading import only, read

GOOD = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return write_qrels(tmp_path / "qrels.txt", {"1": {"a": 1, "b": 0}})


def read_text(tmp_path: Path, qrels: Path, content: str | bytes, name: str = "a.run") -> list[Record]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(reader, path, qrels=qrels)


def trouble(kind: type[Exception], call: Callable[[], object]) -> str | None:
    """Return what an error of the kind says, or None where there is none; every other error is a bug."""
    try:
        call()
    except kind as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 Q0 c 3 0.5", "5 fields, where a run has 6"),
        ("1 Q0 c 3 0.5 t u", "7 fields, where a run has 6"),
        ("1 0 c 1", "4 fields, where a run has 6"),
        ("1 Q0 c 3 high t", "score 'high' is no number"),
        ("1 Q0 c 3 1_0 t", "score '1_0' is no number"),
        ("1 Q0 c 3 nan t", "score nan of document 'c' is not finite"),
        ("1 Q0 c 3 -inf t", "score -inf of document 'c' is not finite"),
        ("1 Q0 c 3 1e999 t", "score inf of document 'c' is not finite"),
        ("1 Q0 a 3 0.5 t", "document 'a' of query '1' has score 0.5, and 2.0 at a.run: line 1"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, qrels: Path, line: str, reason: str) -> None:
    (refused,) = only(Refused, read_text(tmp_path, qrels, f"{GOOD}\n{line}\n1 Q0 z 9 0.1 t\n"))
    assert (refused.place, refused.reason) == ("a.run: line 4", reason)


def test_a_conflict_between_lines_far_apart_names_both(tmp_path: Path, qrels: Path) -> None:
    (refused,) = only(Refused, read_text(tmp_path, qrels, f"{GOOD}2 Q0 a 1 1 t\n1 Q0 b 3 0.5 t\n"))
    assert refused.place == "a.run: line 4"
    assert refused.reason.endswith("has score 0.5, and 1.0 at a.run: line 2")


def test_lines_that_repeat_word_for_word_are_counted_and_kept_once(tmp_path: Path, qrels: Path) -> None:
    once = read_text(tmp_path, qrels, GOOD)
    twice = read_text(tmp_path, qrels, GOOD + GOOD)
    assert only(Sample, twice) == only(Sample, once)
    assert [note.text for note in only(Note, twice)] == ["2 lines repeated word for word, kept once"]


def test_ranks_that_contradict_scores_are_counted_and_ignored(tmp_path: Path, qrels: Path) -> None:
    swapped = "1 Q0 a 2 2.0 t\n1 Q0 b 1 1.0 t\n"
    records = read_text(tmp_path, qrels, swapped)
    assert only(Sample, records) == only(Sample, read_text(tmp_path, qrels, GOOD))
    (note,) = only(Note, records)
    assert "the ranks of 1 query, such as '1', contradict the scores" in note.text
    # Equal scores, equal ranks and lines in another order contradict nothing.
    for fine in ("1 Q0 b 2 1 t\n1 Q0 a 1 1 t\n", "1 Q0 b 0 1 t\n1 Q0 a 0 2 t\n", "1 Q0 b - 1 t\n1 Q0 a - 2 t\n"):
        assert only(Note, read_text(tmp_path, qrels, fine)) == []


def test_scores_that_trec_eval_cannot_tell_apart_are_pointed_out(tmp_path: Path, qrels: Path) -> None:
    (note,) = only(Note, read_text(tmp_path, qrels, "1 Q0 a 1 1.0000000002 t\n1 Q0 b 2 1.0000000001 t\n"))
    assert "1 query, such as '1', with scores that differ too little" in note.text


def test_lines_of_another_tag_are_pointed_out(tmp_path: Path, qrels: Path) -> None:
    (note,) = only(Note, read_text(tmp_path, qrels, GOOD + "1 Q0 c 3 0.5 u\n"))
    assert note.text == "1 line with a tag other than 't'"


def test_white_space_marks_and_ends_of_lines_do_not_matter(tmp_path: Path, qrels: Path) -> None:
    plain = only(Sample, read_text(tmp_path, qrels, GOOD))
    for content in (
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD.replace(" ", "\t \t"),
        GOOD.replace("\n", "\n\n").rstrip(),
    ):
        assert only(Sample, read_text(tmp_path, qrels, content)) == plain


def test_ids_are_text_whatever_they_hold(tmp_path: Path) -> None:
    # A space of another alphabet is part of an id: only blanks and tabs part columns.
    ids = ["../../etc/passwd", "key=value", "a\u00a0b", "001", "{"]
    judgments = write_qrels(tmp_path / "q", {one: {one: 1} for one in ids})
    run = write_run(tmp_path / "a.run", {one: {one: 1.0} for one in ids})
    samples = only(Sample, read(reader, run, qrels=judgments))
    assert [(one.case.key, one.values) for one in samples] == [(one, {"nDCG@10": 1.0}) for one in ids]


def test_a_line_of_10_megabytes_is_named_and_not_shown(tmp_path: Path, qrels: Path) -> None:
    (refused,) = only(Refused, read_text(tmp_path, qrels, GOOD + "x" * 10_000_000 + "\n"))
    assert (refused.place, refused.reason) == ("a.run: line 3", "1 field, where a run has 6")
    (refused,) = only(Refused, read_text(tmp_path, qrels, GOOD + f"1 Q0 {'x' * 10_000_000} 3 nan t\n"))
    assert len(refused.reason) < 200


def test_a_file_of_another_kind_fills_neither_memory_nor_screen(tmp_path: Path, qrels: Path) -> None:
    refused = only(Refused, read_text(tmp_path, qrels, "1 0 a 1\n" * 5000))
    assert len(refused) == 11
    assert refused[0].remedy.endswith("with --qrels")
    assert refused[-1].reason == "4,990 more lines like these cannot be read"


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff", "{}", '{"1": {}}'])
def test_a_run_that_holds_nothing_is_refused(tmp_path: Path, qrels: Path, content: str) -> None:
    (refused,) = only(Refused, read_text(tmp_path, qrels, content))
    assert (refused.place, refused.reason) == ("a.run", "it holds no ranking")


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_gzip_that_is_cut_off_is_refused_by_name(tmp_path: Path, qrels: Path, share: float) -> None:
    whole = gzip.compress("".join(f"1 Q0 d{hash(one)} 1 {one} t\n" for one in range(2000)).encode())
    with pytest.raises(IngestError, match=r"a\.run\.gz is cut off or damaged gzip"):
        read_text(tmp_path, qrels, whole[: int(len(whole) * share)], "a.run.gz")


@pytest.mark.parametrize(
    ("run", "judged", "hint"),
    [
        (["q1", "q2"], ["1", "2"], "2 would match without what stands before the number, such as 'q1' and '1'"),
        (["001", "002", "x"], ["1", "2", "3"], "2 would match without leading zeros, such as '001' and '1'"),
        (["A"], ["a"], "1 would match regardless of case, such as 'A' and 'a'"),
        (["7.0"], ["7"], "1 would match as whole numbers, such as '7.0' and '7'"),
        (["x"], ["1"], "the run has 'x', the judgments '1'"),
    ],
)
def test_a_run_of_other_queries_is_refused_with_the_keys_that_would_match(
    tmp_path: Path, run: list[str], judged: list[str], hint: str
) -> None:
    path = write_run(tmp_path / "a.run", {one: {"d": 1.0} for one in run})
    judgments = write_qrels(tmp_path / "qrels", {one: {"d": 1} for one in judged})
    (refused,) = only(Refused, read(reader, path, qrels=judgments))
    assert refused.reason.startswith(f"0 of its {len(run)} quer")
    assert refused.reason.endswith(hint)


def test_keys_with_white_space_around_them_are_recognized() -> None:
    assert would_match([" a "], ["a"]) == "1 would match without white space around them, such as ' a ' and 'a'"
    assert would_match(["a"], ["b"]) is None


def test_a_run_whose_documents_nobody_judged_is_pointed_out(tmp_path: Path, qrels: Path) -> None:
    (note,) = only(Note, read_text(tmp_path, qrels, "1 Q0 A 1 2.0 t\n"))
    assert note.text == "none of the documents returned is judged; do their ids read as in qrels.txt?"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"1": {"a": "high"}}', "score 'high' is no number"),
        ('{"1": {"a": null}}', "score 'None' is no number"),
        ('{"1": {"a": true}}', "score 'True' is no number"),
        ('{"1": {"a": NaN}}', "score nan of document 'a' is not finite"),
        ('{"1": {"a": 1e999}}', "score inf of document 'a' is not finite"),
        ('{"1": {"a": ' + "9" * 5000 + "}}", "score inf of document 'a' is not finite"),
        ('{"1": {"a": 1, "a": 2}}', "document 'a' of query '1' has score 2.0, and 1.0 at a.json: ['1']['a']"),
        ('{"1": {"a": 1}, "2": {"a": 1}, "1": {"a": 2}}', "document 'a' of query '1' has score 2.0, and 1.0 at "),
        ('{"1": {"a\\u0000b": 1}}', "an id of query '1' holds NUL"),
    ],
)
def test_what_is_no_score_in_json_is_named(tmp_path: Path, qrels: Path, content: str, reason: str) -> None:
    (refused,) = only(Refused, read_text(tmp_path, qrels, content, "a.json"))
    assert refused.place.startswith("a.json: ['1']['")
    assert refused.reason.startswith(reason)


@pytest.mark.parametrize(
    "content",
    [
        '{"1": {"a": 1},}',
        '{"1": {"a": 1}',
        '{"1": [1]}',
        "[1]",
        '{"1": {"a": {"b": 1}}}',
        '{"1": 2}',
        '{"a": "\udcff"}',
        '{"1": ' * 100_000,
    ],
)
def test_json_that_is_no_run_ends_in_an_error_that_names_the_file(tmp_path: Path, qrels: Path, content: str) -> None:
    with pytest.raises(IngestError, match=r"^a\.json(: .*)? (is|nests) "):
        read_text(tmp_path, qrels, content.encode("utf-8", "surrogateescape"), "a.json")


@pytest.mark.parametrize("magic", [b"PAR1", b"\x04\x22\x4d\x18", b"PAR1" + b"x" * 100 + b"PAR1"])
def test_damaged_parquet_and_lz4_are_refused_by_name(tmp_path: Path, qrels: Path, magic: bytes) -> None:
    with pytest.raises(IngestError, match=r"^a\.bin is "):
        read_text(tmp_path, qrels, magic + b"\0" * 20, "a.bin")


def test_a_parquet_of_other_columns_is_refused_with_them(tmp_path: Path, qrels: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    with pytest.raises(IngestError, match="its columns are x, y"):
        read(reader, tmp_path / "a.parquet", qrels=qrels)
    pq.write_table(pa.table({"q_id": [None], "doc_id": ["a"], "score": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(IngestError, match="row 1: id 'None' is no text"):
        read(reader, tmp_path / "a.parquet", qrels=qrels)


def test_an_lz4_that_expands_without_end_is_refused(
    tmp_path: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa

    packed = pa.compress(b"\0" * 3_000_000, codec="lz4", asbytes=True)
    monkeypatch.setattr("opfield.ingest.files.RATIO_ALLOWANCE", 1_000_000)
    monkeypatch.setattr("opfield.ingest.files.LARGEST_RATIO", 2)
    with pytest.raises(IngestError, match="unpack it yourself"):
        read_text(tmp_path, qrels, packed, "a.lz4")


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        ("1 0 a 1\n1 0 b\n", "line 2", "3 fields, where judgments have 4"),
        ("1 0 a yes\n", "line 1", "relevance 'yes' is no whole number"),
        ("1 0 a 0.5\n", "line 1", "relevance '0.5' is no whole number"),
        ("1 0 a 1\n1 0 b 1\n1 0 a 2\n", "line 3", "document 'a' is judged 2 for query '1', and 1 at q: line 1"),
        ("1 0 a 2000000000\n", "line 1", "relevance 2000000000 is beyond 10,000"),
        ("x" * 2000 + " 0 a 1\n", "line 1", "query id 'xxxx"),
        ("query-id\tcorpus-id\tscore\n1\ta\n", "line 2", "2 fields, where judgments have 3"),
        ('{"1": {"a": 0.5}}', "['1']['a']", "relevance '0.5' is no whole number"),
        ('{"1": {"a": 1, "a": 0}}', "['1']['a']", "document 'a' is judged 0 for query '1', and 1 at q: "),
        ('{"": {"a": 1}}', "['']['a']", "a query id is empty"),
    ],
)
def test_a_judgment_that_cannot_be_read_is_named(tmp_path: Path, content: str, place: str, reason: str) -> None:
    (tmp_path / "q").write_text(content)
    (refused,) = only(Refused, read_text(tmp_path, tmp_path / "q", GOOD))[:1]
    assert refused.place == f"q: {place}"
    assert refused.reason.startswith(reason)


def test_judgments_below_0_and_said_twice_are_noted(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 a 1\n1 0 b -1\n")
    texts = [note.text for note in only(Note, read_text(tmp_path, tmp_path / "q", GOOD))]
    assert texts == ["1 judgment repeated word for word, kept once", "1 judgment below 0: judged, and not relevant"]


@pytest.mark.parametrize("content", ["", "{}", "query-id\tcorpus-id\tscore\n"])
def test_judgments_that_judge_nothing_end_the_reading(tmp_path: Path, content: str) -> None:
    (tmp_path / "q").write_text(content)
    with pytest.raises(IngestError, match="q holds no judgment"):
        read_text(tmp_path, tmp_path / "q", GOOD)


def test_what_the_user_left_out_is_asked_for(tmp_path: Path, qrels: Path) -> None:
    run = write_run(tmp_path / "a.run", {"1": {"a": 1.0}})
    with pytest.raises(IngestError, match="name their file with --qrels"):
        read(reader, run)
    with pytest.raises(IngestError, match="no run is named"):
        read(reader, qrels=qrels)
    with pytest.raises(IngestError, match="absent is not there"):
        read(reader, run, qrels=tmp_path / "absent")
    with pytest.raises(IngestError, match="is a folder"):
        read(reader, tmp_path, qrels=qrels)


@pytest.mark.parametrize(
    "content", ['{"_id": "1"}', "{1}", "no tab", '{"_id": true, "text": "x"}', "1\tx\n1\ty", b"1\t\xff", "[1]\n"]
)
def test_texts_of_queries_that_cannot_be_read_end_the_reading(
    tmp_path: Path, qrels: Path, content: str | bytes
) -> None:
    queries = tmp_path / "queries"
    queries.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(IngestError, match=r"^queries: line "):
        read(reader, write_run(tmp_path / "a.run", {"1": {"a": 1.0}}), qrels=qrels, queries=queries)


@pytest.mark.parametrize("content", ["one\n", "a b c d\n", "a b c\n"])
def test_an_evaluation_of_another_kind_ends_the_reading(tmp_path: Path, qrels: Path, content: str) -> None:
    printed = tmp_path / "printed"
    printed.write_text(content)
    with pytest.raises(IngestError, match=r"^printed: line 1"):
        read(reader, write_run(tmp_path / "a.run", {"1": {"a": 1.0}}), qrels=qrels, stated=(printed,))


def test_an_evaluation_without_a_metric_asked_for_says_so(tmp_path: Path, qrels: Path) -> None:
    printed = tmp_path / "printed"
    printed.write_text("gm_map all 0.5\nnum_ret all 7\nofficial all 1\n")
    records = read(reader, write_run(tmp_path / "a.run", {"1": {"a": 1.0}}), qrels=qrels, stated=(printed,))
    assert only(Stated, records) == []
    assert only(Note, records)[-1].text == "none of its figures is of a metric asked for: gm_map, num_ret, official"


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80) | st.text(alphabet='1 Q0ab.\t\n-e{}":,', max_size=60).map(str.encode))
def test_whatever_a_run_holds_ends_in_records_or_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    judgments = write_qrels(tmp_path / "qrels.txt", {"1": {"a": 1, "b": 0}})
    assert "a.run" in (trouble(IngestError, lambda: read_text(tmp_path, judgments, content)) or "a.run")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80) | st.text(alphabet='1 0ab.\t\n-e{}":,', max_size=60).map(str.encode))
def test_whatever_judgments_hold_ends_in_records_or_an_error_that_names_them(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "judged").write_bytes(content)
    assert "judged" in (trouble(IngestError, lambda: read_text(tmp_path, tmp_path / "judged", GOOD)) or "judged")


def cbor(value: object) -> bytes:
    """Encode a run as the format's specification says, every length in 4 bytes."""
    import struct

    if isinstance(value, dict):
        return b"\xba" + struct.pack(">I", len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())
    if isinstance(value, str):
        return b"\x7a" + struct.pack(">I", len(value.encode())) + value.encode()
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    assert isinstance(value, int)
    return (b"\x1b" if value >= 0 else b"\x3b") + struct.pack(">Q", value if value >= 0 else -1 - value)


RUNS = st.dictionaries(
    st.text(max_size=5),
    st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False) | st.integers(-(2**63), 2**63), max_size=4),
    max_size=4,
)


@given(RUNS)
def test_cbor_is_read_as_it_was_written(run: dict[str, dict[str, float]]) -> None:
    entries = [(query, document, score) for query, scores in run.items() for document, score in scores.items()]
    assert list(nested_numbers(cbor(run))) == entries


@given(RUNS, st.integers(0, 200))
def test_cbor_that_is_cut_off_is_an_error(run: dict[str, dict[str, float]], cut: int) -> None:
    whole = cbor(run)
    if cut < len(whole):
        with pytest.raises(ValueError, match=r"."):
            list(nested_numbers(whole[:cut]))


@given(st.binary(max_size=60))
def test_bytes_that_are_no_cbor_are_an_error_and_nothing_else(content: bytes) -> None:
    assert trouble(ValueError, lambda: list(nested_numbers(content))) != ""


def test_a_run_is_recognized_by_its_first_line(tmp_path: Path) -> None:
    def recognized(name: str, content: bytes) -> bool:
        (tmp_path / name).write_bytes(content)
        return reader.recognizes(tmp_path / name)

    assert recognized("a.run", GOOD.encode())
    assert recognized("a.gz", gzip.compress(GOOD.encode()))
    assert recognized("a.json", json.dumps({"1": {"a": 0.5}}).encode())
    assert not recognized("qrels.json", json.dumps({"1": {"a": 1}}).encode())
    assert not recognized("b.json", b'{"version": 3, "results": {"x": 1}}')
    assert not recognized("c.txt", b"one two three four five six\n")
    assert not recognized("d.txt", b"1 0 a 1\n")
    assert not recognized("e", b"")
    assert not recognized("f.gz", gzip.compress(GOOD.encode())[:12])
    assert not reader.recognizes(tmp_path)
    assert not reader.recognizes(tmp_path / "absent")


def test_a_folder_in_place_of_judgments_is_called_by_its_name(
    tmp_path: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    with pytest.raises(IngestError, match=r"^folder is a folder; name a file"):
        read_text(tmp_path, Path(), GOOD)
