"""Files of other tools, read without trust: what is no file, no JSON or cut off is told by name and place."""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.ingest.files import first_bytes, first_character, is_gzip, json_value, open_file
from opfield.ingest.records import IngestError, Source

NAMES = st.sampled_from(["a", "b", "\ufffd", "a\nb"])


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Return a pipe, a socket, a device, and a link to each."""
    os.mkfifo(tmp_path / "pipe")
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        # The name of a socket may be a hundred bytes long only.
        held = socket.socket(socket.AF_UNIX)
        held.bind("socket")
    finally:
        os.chdir(here)
    found = {"pipe": tmp_path / "pipe", "socket": tmp_path / "socket", "device": Path("/dev/zero")}
    for name, path in list(found.items()):
        found[f"link to {name}"] = tmp_path / f"link-{name}"
        found[f"link to {name}"].symlink_to(path)
    yield found
    held.close()


@pytest.mark.parametrize("kind", [*(kinds := ("pipe", "socket", "device")), *(f"link to {kind}" for kind in kinds)])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(odd: dict[str, Path], kind: str) -> None:
    path = odd[kind]
    with pytest.raises(IngestError, match="no regular file"):
        open_file(Source(path, path.name))
    assert first_bytes(path, 4) == b""
    assert not is_gzip(path)


def test_a_folder_a_link_to_nothing_and_nothing_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "none")
    for path, what in (
        (tmp_path, "a folder"),
        (tmp_path / "link", "a link to nothing"),
        (tmp_path / "none", "not there"),
        (tmp_path / "a\0b", "not there"),
    ):
        with pytest.raises(IngestError, match=f"is {what}; name a file"):
            open_file(Source(path, path.name))


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with open_file(Source(tmp_path / "link", "link")) as file:
        assert file.read() == b"abc"


@pytest.mark.parametrize("blanks", [0, 1, 4095, 5000, 3 * 2**20])
def test_the_first_character_is_found_behind_any_number_of_blanks(tmp_path: Path, blanks: int) -> None:
    content = b"\xef\xbb\xbf" + b" \n" * blanks + b"[1]"
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").write_bytes(gzip.compress(content))
    assert [first_character(Source(tmp_path / name, name)) for name in "ab"] == [b"[", b"["]
    (tmp_path / "c").write_bytes(b" \n" * blanks)
    assert first_character(Source(tmp_path / "c", "c")) == b""


@given(st.lists(st.tuples(NAMES, st.integers(0, 9)), max_size=5), st.integers(0, 3))
def test_an_object_with_a_member_twice_is_refused_however_deep(pairs: list[tuple[str, int]], depth: int) -> None:
    text = "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"
    content = ("[" * depth + text + "]" * depth).encode()
    if len(dict(pairs)) == len(pairs):
        assert json_value(content, "a: line 7") == json.loads(content)
        return
    with pytest.raises(
        IngestError, match=r"^a: line 7 has the member '.*' twice in one object; leave one of the two out$"
    ):
        json_value(content, "a: line 7")


def test_two_members_that_differ_in_lone_surrogates_only_are_not_read_as_one() -> None:
    with pytest.raises(IngestError, match="twice"):
        json_value(rb'{"\ud800": 1, "\ud801": 2}', "a: line 1")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"a": "x', "is cut off: Unterminated string at column 7; copy the file again"),
        ('{"a": "x" ', "is cut off: Expecting ',' delimiter at column 11; copy the file again"),
        ('{"a": tru', "is cut off: Expecting value at column 7; copy the file again"),
        ('{"a": "\\u12', "is cut off: Invalid \\uXXXX escape at column 9; copy the file again"),
        ('{"a": 1.', "is cut off: Expecting ',' delimiter at column 8; copy the file again"),
        ('{"a": 1,', "is cut off: "),
        ("", "is cut off: Expecting value at column 1; copy the file again"),
        ('{"a": 1,}', "is not JSON: "),
        ("[1,]", "is not JSON: "),
        ('{"a": 1}}', "is not JSON: Extra data at column 9; mend it there"),
        ("[1 2]", "is not JSON: Expecting ',' delimiter at column 4; mend it there"),
    ],
)
def test_what_is_cut_off_is_to_be_copied_and_what_is_wrong_to_be_mended(content: str, told: str) -> None:
    with pytest.raises(IngestError, match=f"^{re.escape('a: line 7 ' + told)}"):
        json_value(content.encode(), "a: line 7")


def test_the_line_is_told_where_the_place_does_not_tell_it() -> None:
    with pytest.raises(IngestError, match="at line 2 column 1; mend"):
        json_value(b'{"a": 1,\n}', "a.json")
    with pytest.raises(IngestError, match="at line 1 column 4; mend"):
        json_value(b"[1 2]", "a.json")


@pytest.mark.parametrize("depth", [500, 2000, 5000, 100_000])
def test_what_nests_deep_is_read_or_refused(depth: int) -> None:
    content = b"[" * depth + rb'"\ud800"' + b"]" * depth
    with pytest.raises(IngestError, match="nests too deep"):
        json_value(content, "a")
