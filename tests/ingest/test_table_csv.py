"""CSV as people have it: quotes, line ends, delimiters, encodings, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.ingest.readers.table import reader
from opfield.ingest.records import IngestError, Note, Reading, Record, Refused, Sample, Source
from tests.ingest.reading import only, read


def _read(path: Path, content: bytes, **options: object) -> list[Record]:
    path.write_bytes(content)
    return read(reader, path, metrics=("s",), case=("id",), **options)


def _keys(records: list[Record]) -> list[object]:
    assert not only(Refused, records)
    return [sample.case.key for sample in only(Sample, records)]


def test_bom_crlf_and_a_missing_last_newline_change_nothing(tmp_path: Path) -> None:
    records = _read(tmp_path / "r.csv", b"\xef\xbb\xbfid,s\r\na,1\r\n\r\nb,2")
    assert _keys(records) == ["a", "b"]
    assert [sample.place for sample in only(Sample, records)] == ["r.csv: line 2", "r.csv: line 4"]


def test_a_record_stands_where_it_starts_however_many_lines_it_has(tmp_path: Path) -> None:
    records = _read(tmp_path / "r.csv", b'id,s,t\na,1,"one\r\ntwo\nthree"\nb,2,"say ""hi"", then"\nc,3,\n')
    assert _keys(records) == ["a", "b", "c"]
    assert [sample.place for sample in only(Sample, records)] == ["r.csv: line 2", "r.csv: line 5", "r.csv: line 6"]
    contents = [sample.content for sample in only(Sample, records)]
    assert contents == [{"t": "one\r\ntwo\nthree"}, {"t": 'say "hi", then'}, {"t": ""}]


@pytest.mark.parametrize(
    ("name", "delimiter", "word"), [("r.csv", ";", "semicolon"), ("r.csv", "\t", "tab"), ("r.csv", "|", "bar")]
)
def test_a_delimiter_is_taken_from_the_header_and_told_of(tmp_path: Path, name: str, delimiter: str, word: str) -> None:
    records = _read(tmp_path / name, f'id{delimiter}s{delimiter}"a,b,c,d"\nx{delimiter}1{delimiter}"q"\n'.encode())
    assert _keys(records) == ["x"]
    assert word in only(Note, records)[0].text


def test_a_comma_needs_no_note_and_a_tsv_is_of_tabs(tmp_path: Path) -> None:
    assert not only(Note, _read(tmp_path / "r.csv", b"id,s\nx,1\n"))
    assert _keys(_read(tmp_path / "r.tsv", b"id\ts,t,u\ts\nx\t1\t2\n")) == ["x"]


@pytest.mark.parametrize("given_as", ["|", "tab"])
def test_a_delimiter_that_is_given_is_not_guessed(tmp_path: Path, given_as: str) -> None:
    delimiter = "\t" if given_as == "tab" else given_as
    content = f"id{delimiter}s{delimiter}a,b,c,d\nx{delimiter}1{delimiter}q\n"
    records = _read(tmp_path / "r.csv", content.encode(), delimiter=given_as)
    assert _keys(records) == ["x"]
    assert not only(Note, records)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", " "])
def test_a_delimiter_that_cannot_be_one_is_refused(tmp_path: Path, delimiter: str) -> None:
    with pytest.raises(IngestError, match="--delimiter is one character"):
        _read(tmp_path / "r.csv", b"id,s\n", delimiter=delimiter)


def test_a_wrong_number_of_fields_is_refused_with_its_line(tmp_path: Path) -> None:
    refused = only(Refused, _read(tmp_path / "r.csv", b"id,s\na,1\nb,2,3\nc\nd,4\n"))
    assert [(each.place, each.reason) for each in refused] == [
        ("r.csv: line 3", "3 fields under a header of 2"),
        ("r.csv: line 4", "1 fields under a header of 2"),
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "r.csv is empty"),
        (b"\n \n\r\n", "r.csv is empty"),
        (b"id,s,s\na,1,2\n", "r.csv: line 1 names the column 's' twice"),
        (b"id,s\na,1\nb,\x001\n", "r.csv: line 3 holds a NUL byte"),
        (b"id,s\na,1\ncaf\xe9,1\n", r"r.csv: line 3 byte 3 \(b'\\xe9'\) is not utf-8; say .*--encoding latin-1"),
        (b'id,s\na,1\nb,"2\nc,3\n', "r.csv: line 3 opens a quote that is never closed"),
        (b'id,s\na,1\n"b"x,2\n', "r.csv: line 3 is no CSV"),
        (b"id,s\ra,1\rb,2\r", "line ends of a lone carriage return"),
        ("id,s\na,1\n".encode("utf-16"), "r.csv: line 1 holds a NUL byte; say --encoding utf-16"),
    ],
)
def test_what_is_no_csv_is_refused_with_place_and_remedy(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(IngestError, match=told):
        _read(tmp_path / "r.csv", content)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
def test_a_named_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    records = _read(tmp_path / "r.csv", "id,s\r\ncafé,1\r\n".encode(encoding), encoding=encoding)
    assert _keys(records) == ["café"]


@pytest.mark.parametrize("encoding", ["latin-3000", "hex", "base64"])
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(IngestError, match="is no text encoding"):
        _read(tmp_path / "r.csv", b"id,s\n", encoding=encoding)


def test_a_wrong_wide_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="is not utf-16"):
        _read(tmp_path / "r.csv", b"id,s\na,1\n\n", encoding="utf-16")


def test_a_field_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    records = _read(tmp_path / "r.csv", b"id,s,t\na,1," + b"x" * 10_000_000 + b"\n")
    assert len(only(Sample, records)[0].content["t"]) == 10_000_000


def test_a_gzip_file_is_read_and_a_cut_one_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"id,s\n" + b"".join(b"%d,1\n" % number for number in range(5000)))
    assert len(_keys(_read(tmp_path / "r.csv.gz", packed))) == 5000
    with pytest.raises(IngestError, match=r"r\.csv\.gz is cut off or damaged gzip"):
        _read(tmp_path / "r.csv.gz", packed[: len(packed) // 2])


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=2, max_size=2),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["\r\n", "\n"]),
)
@settings(max_examples=100, deadline=None)
def test_every_text_that_is_written_quoted_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, fields: list[list[str]], end: str
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "s", "a", "b"])
    writer.writerows([str(number), "1", *pair] for number, pair in enumerate(fields))
    records = _read(tmp_path_factory.mktemp("csv") / "r.csv", written.getvalue().encode())
    assert [[s.content["a"], s.content["b"]] for s in only(Sample, records)] == fields


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(("end", "is_whole"), [("", False), ("\n", True), ("\r\n", True)])
def test_a_last_line_without_an_end_is_told_of(tmp_path: Path, end: str, is_whole: bool, encoding: str) -> None:
    (tmp_path / "r.csv").write_bytes(f"id,s\na,1\nb,0.25{end}".encode(encoding))
    records = read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",), encoding=encoding)
    told = [(note.place, note.text) for note in only(Note, records)]
    cut = ("r.csv: line 3", "the last line has no end: the file may be cut off")
    assert told == ([] if is_whole else [cut])
    assert len(only(Sample, records)) == 2


def test_a_file_of_which_all_rows_are_refused_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,s\n" + ",\n" * 50_000)
    seen = 0

    def advance(count: int) -> None:
        nonlocal seen
        seen += count

    options = {option.name: option.default for option in reader.options} | {"case": ("id",)}
    records = list(reader.read(Reading([Source(tmp_path / "r.csv", "r.csv")], options, ("s",), advance)))
    told = only(Refused, records)
    assert len(told) < 10
    assert "10000 rows are refused; the rest of the file was not read" in [refused.reason for refused in told]


def test_a_line_of_countless_delimiters_is_refused_before_it_is_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opfield.ingest.tables.delimited._MOST_FIELDS", 1000)
    (tmp_path / "r.csv").write_text("id,s\na,1\n" + "," * 2000)
    with pytest.raises(IngestError, match=r"^r\.csv: line 3 has more than 1000 delimiters"):
        read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",))


def test_a_file_of_blank_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opfield.ingest.tables.delimited._MOST_BLANK", 1000)
    (tmp_path / "r.csv").write_text("id,s\n" + "\n" * 2000)
    with pytest.raises(IngestError, match=r"^r\.csv: line 1002 is the blank line number 1001"):
        read(reader, tmp_path / "r.csv", metrics=("s",), case=("id",))
