"""What is no whole log of Inspect is refused with its place and a remedy; odd names and values are only that."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from opfield.ingest.readers import inspect_archive
from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import Expected, IngestError, Refused, Sample
from tests.ingest.inspect_logs import ZSTANDARD, header, notes, sample, write_eval, write_json
from tests.ingest.reading import only, read

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

SAMPLES = [sample(key, scores={"match": "C"}, notes=f"{key} " * 200) for key in range(1, 9)]


def refusal(*paths: Path, **options: Any) -> str:
    with pytest.raises(IngestError) as caught:
        read(reader, *paths, **options)
    assert "; " in str(caught.value), "a refusal says the remedy"
    return str(caught.value)


@pytest.mark.parametrize("share", [0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("form", ["json", "eval"])
def test_a_log_that_was_cut_off_is_refused(tmp_path: Path, form: str, share: float) -> None:
    write = write_json if form == "json" else write_eval
    path = write(tmp_path / f"log.{form}", header(range(1, 9)), SAMPLES)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    told = refusal(path)
    assert told.startswith(f"log.{form}")
    assert re.search(r"is cut off|is empty", told)
    assert ("`inspect log recover`" in told) == (form == "eval")


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", header(["a"]), [sample("a", notes="needle " * 9)], compression=0)
    path.write_bytes(path.read_bytes().replace(b"needle needle", b"noodle noodle"))
    assert refusal(path).startswith("log.eval: samples/a_epoch_1.json is cut off or damaged (Bad CRC-32")


@pytest.mark.parametrize("content", ["{}", '{"eval": 1}', '{"samples": [{"id": 1}]}', "[]", '"eval"', "no JSON", "12"])
def test_json_that_is_no_log_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    assert refusal(path).startswith("other.json")


def test_an_archive_that_is_no_log_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("samples/a.json", "{}")
    assert "it holds neither header.json nor _journal/start.json" in refusal(tmp_path / "other.zip")
    with zipfile.ZipFile(tmp_path / "empty.eval", "w"):
        pass
    assert "it holds neither header.json nor _journal/start.json" in refusal(tmp_path / "empty.eval")


def test_a_folder_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert "is not there" in refusal(tmp_path / "none.json")


@pytest.mark.parametrize("version", [0, 4, 99, 10**30])
def test_an_unknown_version_is_refused_with_the_way_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    path = write_json(tmp_path / "log.json", header([1]) | {"version": version}, [sample(1)])
    assert "pip install 'opfield[inspect]'" in refusal(path)
    assert "versions 1, 2, 3 are read plainly" in refusal(path, via="plain")


@pytest.mark.parametrize("version", [True, "2", 2.5, None, {}])
def test_a_version_that_is_none_is_refused(tmp_path: Path, version: Any) -> None:
    path = write_json(tmp_path / "log.json", header([1]) | {"version": version}, [sample(1)])
    assert "which is no version" in refusal(path)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_known_versions_are_read_plainly(tmp_path: Path, version: int) -> None:
    path = write_json(tmp_path / "log.json", header([1]) | {"version": version}, [sample(1)])
    assert len(only(Sample, read(reader, path, via="plain"))) == 1


def test_a_log_without_a_version_is_read_with_a_note(tmp_path: Path) -> None:
    head = header([1])
    del head["version"]
    records = read(reader, write_json(tmp_path / "log.json", head, [sample(1)]))
    assert "no version is stated; read as version 2" in notes(records)


def test_member_names_are_only_names(tmp_path: Path) -> None:
    ids = ["../../up", "/etc/passwd", "a\nb", "C:\\x", "key=value", "ü☃", "x" * 300]
    before = sorted(tmp_path.parent.iterdir())
    path = write_eval(tmp_path / "log.eval", header(ids), [sample(key, scores={"match": "C"}) for key in ids])
    records = read(reader, path)
    assert [s.case.key for s in only(Sample, records)] == ids
    assert all(s.place.isprintable() for s in only(Sample, records))
    assert (sorted(tmp_path.parent.iterdir()), list(tmp_path.iterdir())) == (before, [path])


@pytest.mark.parametrize("key", [None, True, 1.5, [], {}, "", "a\0b", "x" * 2000])
def test_what_is_no_id_is_refused_where_it_stands(tmp_path: Path, key: Any) -> None:
    records = read(reader, write_json(tmp_path / "log.json", header(["a"]), [sample("a"), sample(key)]))
    assert [refused.place for refused in only(Refused, records)] == ["log.json: samples[1]"]


@pytest.mark.parametrize("each", [None, 1, "text", [], sample("a") | {"epoch": None}, sample("a") | {"epoch": "1"}])
def test_what_is_no_sample_is_refused_where_it_stands(tmp_path: Path, each: Any) -> None:
    records = read(reader, write_json(tmp_path / "log.json", header(["a"]), [each]))
    assert [refused.place for refused in only(Refused, records)] == ["log.json: samples[0]"]


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 300])
def test_a_scorer_whose_name_cannot_be_a_metrics_is_refused(tmp_path: Path, name: str) -> None:
    path = write_json(tmp_path / "log.json", header(["a"]), [sample("a", scores={name: "C"})])
    [refused] = only(Refused, read(reader, path))
    assert (refused.place, refused.remedy.split(",")[0]) == ("log.json: scores", "rename the scorer")


def test_two_scores_of_one_metric_name_are_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", header(["a"]), [sample("a", scores={"x/y": 1, "x": {"y": 0}})])
    [refused] = only(Refused, read(reader, path))
    assert refused.reason == "two scores would be metric 'x/y'"


def test_odd_values_in_the_header_are_no_reason_to_stop(tmp_path: Path) -> None:
    head = header([1, None, [], "a\0", ""], model_args={"seed": 2**70, "t": float("nan")}, task=None, scorers=7)
    head |= {"results": [], "plan": None, "stats": 1, "error": "x"}
    records = read(reader, write_json(tmp_path / "log.json", head, [sample(1)]))
    assert [e.case.key for e in only(Expected, records)] == [1]
    assert [refused.reason for refused in only(Refused, records)] == [
        "sample_ids holds 'a\\x00', which is no id",
        "sample_ids holds '', which is no id",
    ]


def test_summaries_that_deny_the_samples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", ZSTANDARD) as archive:
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample("a", scores={"match": 7, "other": 1})))
        archive.writestr("summaries.json", json.dumps([sample("a", scores={"match": "C"})]))
        archive.writestr("header.json", json.dumps(header(["a"])))
    records = read(reader, path)
    assert [refused.reason for refused in only(Refused, records)] == [
        "metric 'match' is 7.0, above its declared upper bound 1.0",
        "metric 'other' stands in no summary",
    ]


def test_an_archive_that_expands_without_end_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_archive, "RATIO_ALLOWANCE", 2**20)
    bomb = ("samples/bomb_epoch_1.json", b" " * 2**23)
    path = write_eval(tmp_path / "log.eval", header(["a"]), [sample("a")], more=[bomb])
    assert "expands to 8 MiB, more than 200 times its size" in refusal(path)


def test_a_member_beyond_the_limit_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_archive, "LARGEST_PART", 2**16)
    path = write_eval(tmp_path / "log.eval", header(["a"]), [sample("a", notes="x" * 2**17)])
    assert "log.eval: samples/a_epoch_1.json expands to more than 0 MiB" in refusal(path)


@pytest.mark.parametrize("compression", [8, ZSTANDARD])
def test_a_member_that_lies_about_its_size_is_read_no_further(tmp_path: Path, compression: int) -> None:
    path = write_eval(tmp_path / "log.eval", header(["a"]), [], compression, [("samples/a_epoch_1.json", b" " * 2**24)])
    stated, lie = (2**24).to_bytes(4, "little"), (50).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(stated, lie))
    assert "samples/a_epoch_1.json is cut off or damaged (Bad CRC-32" in refusal(path)


def test_an_encrypted_or_unknown_compression_is_refused(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", header(["a"]), [sample("a")], compression=0)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")  # the directory's entry of header.json
    content[at + 10] = 97
    path.write_bytes(content)
    assert refusal(path).startswith("log.eval: header.json is cut off or damaged (")


def test_summaries_that_lack_a_sample_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", ZSTANDARD) as archive:
        for key in ("a", "b"):
            archive.writestr(f"samples/{key}_epoch_1.json", json.dumps(sample(key, scores={"match": 7})))
        archive.writestr("summaries.json", json.dumps([sample("a", scores={"match": "C"})]))
        archive.writestr("header.json", json.dumps(header(["a", "b"])))
    records = read(reader, path)
    assert not only(Refused, records)
    assert [s.values for s in only(Sample, records)] == [{"match": 7.0}] * 2
