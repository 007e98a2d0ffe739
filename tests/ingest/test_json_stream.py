"""One JSON object member by member, on a window that slides over the text."""

from __future__ import annotations

import gzip
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.ingest import json_stream
from opfield.ingest.json_stream import json_items, json_pairs, json_shell, members
from opfield.ingest.records import IngestError, Source

TEXT = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def source_of(path: Path, content: bytes) -> Source:
    path.write_bytes(content)
    return Source(path, path.name)


def whole(source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, index, value in members(source):
        if index is None:
            found[name] = value
        else:
            found.setdefault(name, []).append(value)
            assert len(found[name]) == index + 1
    return found


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read so few bytes at a time that every token is cut somewhere."""
    monkeypatch.setattr(json_stream, "_CHUNK", 1)


@given(
    st.dictionaries(TEXT, VALUES, max_size=5), st.booleans(), st.sampled_from([None, 1]), st.sampled_from([1, 7, 4096])
)
def test_members_are_what_the_standard_parser_reads_wherever_the_text_is_cut(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any], is_ascii: bool, indent: int | None, chunk: int
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found = whole(source_of(tmp_path_factory.mktemp("json") / "a.json", text.encode()))
    # An empty array at the top yields nothing.
    assert repr(found) == repr({name: item for name, item in json.loads(text).items() if item != []})


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=3), st.data())
def test_no_beginning_of_a_document_is_a_document(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any], data: st.DataObject
) -> None:
    content = json.dumps(value).encode()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    with pytest.raises(IngestError, match=r"is cut off|is empty"):
        whole(source_of(tmp_path_factory.mktemp("json") / "a.json", cut))


@pytest.mark.usefixtures("narrow")
def test_what_inspect_writes_beyond_json_is_read(tmp_path: Path) -> None:
    digits = "9" * 500
    content = f'\ufeff{{"a": NaN, "b": [-Infinity, Infinity], "c": {digits}, "d": {2**70}, "e": "\\u0000"}}'
    found = whole(source_of(tmp_path / "a.json", content.encode()))
    assert math.isnan(found.pop("a"))
    assert found == {"b": [-math.inf, math.inf], "c": math.inf, "d": 2**70, "e": "\0"}


@pytest.mark.usefixtures("narrow")
def test_lone_surrogates_become_replacement_characters_and_pairs_stay(tmp_path: Path) -> None:
    found = whole(source_of(tmp_path / "a.json", rb'{"a": "x\ud800y", "\udfff": "\ud83d\ude00"}'))
    assert found == {"a": "x\ufffdy", "\ufffd": "\U0001f600"}


@pytest.mark.parametrize("chunk", [1, 2**20])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            '{"a": 1,\n "b": [1, 2,], "c": 3, "d": "long enough to go on"}',
            "b[2] is not JSON: Expecting value at line 2 column 13",
        ),
        ('{"a": 1,\n                       ', "is cut off"),
        ('{"a": 1,}', "a.json is not JSON: expecting a name in double quotes at line 1 column 9"),
        ('{"a": [1,]}', "a[1] is not JSON: Expecting value at line 1 column 10"),
        ('{"a": {"b": tru}, "c": "long enough to go on"}', "a is not JSON: Expecting value at line 1 column 13"),
        ('{"a" 1, "c": "long enough to go on and on"}', "a is not JSON: expecting ':' at line 1 column 6"),
        (
            '{a: 1, "c": "long enough to go on and on"}',
            "is not JSON: expecting a name in double quotes at line 1 column 2",
        ),
        (
            '{"a": 1} {"b": "long enough to go on and on"}',
            "is not JSON: more text after its end at line 1 column 10",
        ),
        ('{"a": "x\ny", "c": "long enough to go on"}', "a is not JSON: Invalid control character at"),
    ],
)
def test_an_error_names_member_line_and_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, told: str, chunk: int
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    with pytest.raises(IngestError, match=re.escape(told)) as caught:
        whole(source_of(tmp_path / "a.json", content.encode()))
    assert str(caught.value).startswith("a.json")
    assert "; " in str(caught.value)


def test_text_that_is_not_utf_8_and_what_nests_too_deep_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="byte 0xff in line 2 is not UTF-8"):
        whole(source_of(tmp_path / "a.json", b'{"a":\n "\xff"}'))
    with pytest.raises(IngestError, match="nests too deep"):
        whole(source_of(tmp_path / "b.json", b'{"a": ' + b'{"a":' * 100_000))


def test_a_value_beyond_the_limit_is_refused_before_all_of_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_PART", 2**20)
    monkeypatch.setattr(json_stream, "_CHUNK", 2**16)
    with pytest.raises(IngestError, match=r"s\[1\] is longer than 1 MiB"):
        whole(source_of(tmp_path / "a.json", b'{"s": [1, "' + b"x" * 2**23))


@given(st.lists(VALUES, max_size=4), st.dictionaries(TEXT, VALUES, max_size=3), st.sampled_from([1, 7, 4096]))
def test_items_and_shell_are_what_the_standard_parser_reads_wherever_the_text_is_cut(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], more: dict[str, Any], chunk: int
) -> None:
    document = more | {"outer": more | {"rows": rows}, "rows": rows}
    shell = more | {"outer": more | {"rows": []}, "rows": []}
    folder = tmp_path_factory.mktemp("json")
    source = source_of(folder / "a.json", json.dumps(document).encode())
    packed = source_of(folder / "a.json.gz", gzip.compress(json.dumps(document).encode()))
    top = source_of(folder / "b.json", json.dumps(rows).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        for each in (source, packed):
            assert repr(list(json_items(each, "rows.item"))) == repr(rows)
            assert repr(list(json_items(each, "outer.rows.item"))) == repr(rows)
            assert repr(json_shell(each, ("rows", "outer.rows"))) == repr(shell)
            assert repr(json_shell(each, ())) == repr(document)
        assert repr(list(json_items(top, "item"))) == repr(rows)
        assert json_shell(top, ()) == []


@pytest.mark.parametrize("prefix", ["item", "rows.item", "rows.rows.item", "none.item", "number.item"])
def test_where_no_array_stands_there_are_no_items_and_the_rest_is_still_read(tmp_path: Path, prefix: str) -> None:
    source = source_of(tmp_path / "a.json", b'{"rows": {"a": [[1], {"b": 2}]}, "number": 1}')
    assert list(json_items(source, prefix)) == []
    cut = source_of(tmp_path / "b.json", b'{"rows": {"a": [[1], {"b": 2}]}, "number": ')
    with pytest.raises(IngestError, match="cut off"):
        list(json_items(cut, prefix))


@pytest.mark.parametrize("content", [b"", b" \n" * 5000])
def test_a_file_of_blanks_is_empty(tmp_path: Path, content: bytes) -> None:
    source = source_of(tmp_path / "a.json", content)
    for read in (
        lambda: list(json_items(source, "item")),
        lambda: json_shell(source, ()),
        lambda: list(members(source)),
    ):
        with pytest.raises(IngestError, match=r"^a\.json is empty"):
            read()


@pytest.mark.parametrize(
    "content",
    [
        b'{"s": [1], "s": [2]}',
        b'{"s": [{"a": 1, "b": 2, "a": 1}]}',
        b'{"x": {"y": {"\\ud800": 1, "\\ud801": 2}}, "s": [1]}',
        b'{"x": [{"y": 1, "y": 1}], "s": [1]}',
    ],
)
def test_a_member_that_stands_twice_is_refused_wherever_it_stands(tmp_path: Path, content: bytes) -> None:
    source = source_of(tmp_path / "a.json", content)
    for read in (
        lambda: list(json_items(source, "s.item")),
        lambda: json_shell(source, ()),
        lambda: list(members(source)),
    ):
        with pytest.raises(IngestError, match=r"^a\.json.* twice in one object; leave one of the two out$"):
            read()


def test_pairs_keep_what_stands_twice(tmp_path: Path) -> None:
    source = source_of(tmp_path / "a.json", b'{"q": {"d": 1, "d": 2}, "q": 3}')
    assert list(json_pairs(source)) == [("q", [("d", 1), ("d", 2)]), ("q", 3)]


def test_a_large_document_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    row = json.dumps({"id": 1, "text": "x" * 20_000, "parts": list(range(500))})
    with path.open("w") as file:
        file.write('{"other": [' + ",".join([row] * 2000) + '], "rows": [' + ",".join([row] * 2500) + "]}")
    assert path.stat().st_size > 100_000_000
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from opfield.ingest.json_stream import json_items, json_shell\n"
        "from opfield.ingest.records import Source\n"
        "source = Source(Path(sys.argv[1]), 'a.json')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert sum(1 for _ in json_items(source, 'rows.item')) == 2500\n"
        "assert json_shell(source, ('rows', 'other')) == {'rows': [], 'other': []}\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert int(told.stdout) < 150_000
