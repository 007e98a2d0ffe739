"""What the user named, as files: what is none is refused or told of, and everything that is read has its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from opfield.ingest.records import IngestError, Reader, ReaderOption, Reading, Record, Source
from opfield.ingest.sources import Asked, file_facts, option_files, sources_of
from opfield.ingest.survey import Finding, survey


def _read(reading: Reading) -> Iterator[Record]:
    for source in reading.sources:
        source.path.read_bytes()
    yield from ()


READER = Reader(
    "any",
    "anything of the name",
    "1",
    _read,
    lambda path: path.suffix == ".csv",
    (ReaderOption("beside", "a file", Path),),
)


def _asked(*paths: Path) -> Asked:
    return Asked(READER, paths, {"beside": None})


def _survey(*paths: Path) -> list[Finding]:
    return list(survey(paths, [READER], {"any": {"beside": None}}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one good file, a pipe, a link to nothing, a device and a warehouse."""
    place = tmp_path / "results"
    (place / "store" / "events").mkdir(parents=True)
    (place / "store" / "warehouse.json").write_text("{}")
    (place / "store" / "events" / "cells.csv").write_text("id\n")
    (place / "good.csv").write_text("id\n")
    os.mkfifo(place / "pipe.csv")
    (place / "link.csv").symlink_to(place / "none")
    (place / "zero.csv").symlink_to("/dev/zero")
    return place


def test_in_folders_only_files_are_taken_and_the_rest_is_told_of(folder: Path) -> None:
    sources, notes = sources_of(_asked(folder))
    assert [source.name for source in sources] == ["good.csv"]
    assert [note.text for note in notes] == [
        "left out 3 files that are none of any's: link.csv, pipe.csv, zero.csv",
        "left out store, which is a warehouse",
    ]


def test_a_warehouse_that_is_named_is_refused(folder: Path) -> None:
    with pytest.raises(IngestError, match="is a warehouse, whose records are taken in already"):
        sources_of(_asked(folder / "store"))


@pytest.mark.parametrize(
    ("name", "told"),
    [("pipe.csv", "is no regular file"), ("zero.csv", "is no regular file"), ("link.csv", "is a link to nothing")],
)
def test_what_is_named_and_no_file_is_refused(folder: Path, name: str, told: str) -> None:
    with pytest.raises(IngestError, match=f"{name} {told}"):
        sources_of(_asked(folder / name))


@pytest.mark.parametrize("name", ["pipe.csv", "zero.csv"])
def test_an_option_that_names_no_regular_file_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(IngestError, match="no regular file"):
        option_files(READER, {"beside": folder / name})
    with pytest.raises(IngestError, match="no regular file"):
        file_facts([Source(folder / name, name)])


def test_the_files_of_a_folder_that_is_one_source_have_digests_and_what_is_none_is_left_out(folder: Path) -> None:
    facts = file_facts([Source(folder, "results")])
    assert [(fact.name, fact.digest) for fact in facts] == [
        ("results/good.csv", hashlib.sha256(b"id\n").hexdigest()),
    ]


def test_what_readers_read_beside_a_file_has_a_digest_too(tmp_path: Path) -> None:
    (tmp_path / "results" / "machine").mkdir(parents=True)
    for name in ("results/machine/a.db", "results/machine/a.db-wal", "results/benchmarks.json", "results/machine/b"):
        (tmp_path / name).write_text(name)
    facts = file_facts([Source(tmp_path / "results" / "machine" / "a.db", "a.db")])
    assert [(fact.name, fact.is_source) for fact in facts] == [
        ("a.db", True),
        ("a.db: a.db-wal", False),
        ("a.db: benchmarks.json", False),
    ]
    assert facts[1].digest == hashlib.sha256(b"results/machine/a.db-wal").hexdigest()


def test_the_folder_where_one_stands_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (found,) = option_files(READER, {"beside": Path()})
    assert found.name == "results"


def test_a_name_that_is_not_utf_8_is_refused_with_the_remedy(tmp_path: Path) -> None:
    bad = tmp_path / os.fsdecode(b"bad\xff.csv")
    bad.write_text("id\n")
    for path in (bad, tmp_path):
        with pytest.raises(IngestError, match=r"bad\\xff\.csv is not UTF-8; rename it") as caught:
            sources_of(_asked(path))
        str(caught.value).encode()
    (finding,) = _survey(tmp_path)
    assert finding.file.endswith(r"/bad\xff.csv")
    assert "is not UTF-8; rename it" in finding.refused[0]


def test_a_file_that_is_left_out_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("")
    (tmp_path / "good.csv").write_text("id\n")
    _sources, (note,) = sources_of(_asked(tmp_path))
    assert note.text == r"left out 1 files that are none of any's: bad\xff.txt"


def test_a_file_named_twice_is_told_with_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n")
    with pytest.raises(IngestError, match=f"^{tmp_path}/a.csv is named twice"):
        sources_of(_asked(tmp_path / "a.csv", tmp_path / "a.csv"))


def test_a_survey_goes_on_over_what_cannot_be_looked_at(folder: Path) -> None:
    found = {finding.file: finding for finding in _survey(folder, folder.parent / "gone")}
    assert list(found) == [f"results/{name}" for name in ("good.csv", "link.csv", "pipe.csv", "store", "zero.csv")] + [
        "gone"
    ]
    assert found["results/good.csv"].reader == "any"
    assert "is a link to nothing" in found["results/link.csv"].refused[0]
    assert "is no regular file" in found["results/pipe.csv"].refused[0]
    assert "is no regular file" in found["results/zero.csv"].refused[0]
    assert found["results/store"].notes == ("it is a warehouse, whose records are taken in already",)
    assert "is not there" in found["gone"].refused[0]


def test_a_folder_that_cannot_be_read_is_a_row_of_the_survey(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "closed").mkdir()
    opened = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        # Permissions do not hold for the administrator, as whom tests may run.
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return iter(opened(path))

    monkeypatch.setattr(Path, "iterdir", iterdir)
    found = {finding.file: finding for finding in _survey(folder)}
    assert found["results/closed"].refused == (
        "results/closed cannot be read: Permission denied; mend its permissions",
    )
    assert "results/good.csv" in found
    with pytest.raises(IngestError, match="closed cannot be read: Permission denied"):
        sources_of(_asked(folder))
